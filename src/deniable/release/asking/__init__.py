"""Ways to ask: SQL, the Python builder, bounds that are found first, single arrays."""
