"""One file for each kind of privacy loss."""
