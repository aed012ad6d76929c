"""Commands that say what an answer means beyond its rows."""
