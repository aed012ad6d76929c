"""Blind passes: one report for each invitation, and nothing that links the two (RFC 9474)."""
