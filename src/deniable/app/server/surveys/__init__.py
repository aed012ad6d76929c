"""Surveys of a server with accounts: drafts, surveys that people take, and their pages."""
