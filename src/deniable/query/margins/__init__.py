"""How far an answer may be from the truth."""
