"""Statistics that run on: counters over time, standing questions, and private bandits."""
