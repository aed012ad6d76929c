"""What is spent and what is left: accounts, charges, signed entries, stores, keys."""
