"""The kinds of privacy loss, one file each."""
