"""Several marginals of one table, measured together."""
