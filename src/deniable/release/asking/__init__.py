"""Ways to ask: SQL, builder calls, bounds to find, arrays."""
