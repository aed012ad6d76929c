"""Numbers that are rounded against us: intervals, directed floats, pairs of laws."""
