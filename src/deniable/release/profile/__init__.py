"""A first look at a table, for one stated loss."""
