"""SQL over released rows: its private parts, its lists of functions, and its margins."""
