"""Scripts that are exported beside the results and compute every number again."""
