"""A first look at a table, at one stated price."""
