"""The console's pages: templates, stylesheet and script. They know values, and no route."""
