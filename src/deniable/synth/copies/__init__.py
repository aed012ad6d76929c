"""Private copies of a table: measured in one run, fitted, sampled, and scored."""
