"""What a ledger demands of the place it is kept in, and the locks that this place has."""
