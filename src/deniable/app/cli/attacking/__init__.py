"""Attacks on the owner's own tables."""
