"""Who is in the data: the trace attack on averages and copies, LiRA on models."""
