"""Signed statements about a release, their verification, and the privacy label."""
