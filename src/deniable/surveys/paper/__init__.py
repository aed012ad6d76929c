"""Surveys on paper: what a hand throws, what cards say, and answers that were keyed in."""
