"""Commands about private models."""
