"""Counters of a session: charged once, and read as often as one likes."""
