"""A statistical test of a mechanism from outside, as a black box."""
