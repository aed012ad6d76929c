"""The relations of a question: names, joins, sub-queries, functions and value ranges."""
