"""A statistical test that looks for broken promises from outside."""
