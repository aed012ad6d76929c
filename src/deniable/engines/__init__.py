"""Engines run a Plan's statements and return integers: one driver per folder."""
