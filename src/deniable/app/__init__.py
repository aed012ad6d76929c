"""The applications: they translate words and ask the rooms below; they do no arithmetic."""
