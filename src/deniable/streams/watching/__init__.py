"""Standing questions about tables that grow."""
