"""The applications: they translate user input for the other rooms; they do no arithmetic."""
