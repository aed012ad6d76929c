"""Estimates from randomized reports: shares, cross-tabs, regressions."""
