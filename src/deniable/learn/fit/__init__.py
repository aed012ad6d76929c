"""What sees noisy numbers only: cells as public lists, sums with their noise, fitted models."""
