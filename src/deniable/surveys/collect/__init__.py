"""Collecting reports: shuffling, repeated waves, simulation, private copies."""
