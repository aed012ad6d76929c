"""The page that a respondent sees, and its files."""
