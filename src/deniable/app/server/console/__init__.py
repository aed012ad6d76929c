"""The console's routes: from a browser's request to a page."""
