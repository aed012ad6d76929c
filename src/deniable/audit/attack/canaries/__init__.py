"""Audits by canaries: in one run, and by two samples."""
