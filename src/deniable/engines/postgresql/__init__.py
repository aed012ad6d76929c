"""PostgreSQL: the Plan runs on the server."""
