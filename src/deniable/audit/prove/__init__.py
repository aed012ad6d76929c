"""Proofs: the exact epsilon of a small program."""
