"""The engine's SQL, as trees: clipped, gridded, contribution-bounded integers."""
