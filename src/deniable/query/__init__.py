"""Questions, in SQL or Python, made into frozen plans before any row is read."""
