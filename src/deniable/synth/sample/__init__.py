"""Rows from a fitted model. This room sees only released numbers, and imports no engine."""
