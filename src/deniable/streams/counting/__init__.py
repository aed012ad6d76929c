"""Counting over time: what is measured with noise, and what is estimated from it."""
