"""Names, joins, sub-queries, functions and value ranges of a Question."""
