"""Commands about numbers over time."""
