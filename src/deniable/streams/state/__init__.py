"""The state of a stream: sealed records in a file, which the ledger knows the end of."""
