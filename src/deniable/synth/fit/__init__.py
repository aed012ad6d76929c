"""Estimates from noisy marginals. This room sees only noisy numbers, and imports no engine."""
