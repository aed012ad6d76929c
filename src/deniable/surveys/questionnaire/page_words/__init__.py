"""The texts of the page that a respondent sees, one file for each language."""
