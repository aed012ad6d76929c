"""Engines run a Plan's one statement and return integers: one driver a file."""
