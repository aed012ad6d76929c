"""Estimates from noisy marginals. This room sees only released numbers, and imports no engine."""
