"""Cross-tables that add up, and private copies of a table: one release, many questions."""
