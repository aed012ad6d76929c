"""Mechanisms that randomize an answer on the respondent's own device."""
