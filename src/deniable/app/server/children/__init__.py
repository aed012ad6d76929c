"""Engines in processes of their own, which hold no key, ledger or token."""
