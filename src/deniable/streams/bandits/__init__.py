"""Choices that learn from rewards, and keep each reward private."""
