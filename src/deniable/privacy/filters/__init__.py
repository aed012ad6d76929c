"""Budgets for releases that are chosen adaptively."""
