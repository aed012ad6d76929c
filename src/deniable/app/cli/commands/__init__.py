"""One file for each command of `deniable`."""
