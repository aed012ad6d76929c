"""The exact epsilon of a small program."""
