"""What a ledger demands of the place it is kept in: its tables, its locks and its key."""
