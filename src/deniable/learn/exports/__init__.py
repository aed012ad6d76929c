"""Fitted models for others: files, SQL, objects of scikit-learn. Released numbers only."""
