"""Careless, dishonest and forged reports: how much they can change the estimates."""
