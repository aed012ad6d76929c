"""Other spellings of what questions can say: each is rewritten into SQL that they know."""
