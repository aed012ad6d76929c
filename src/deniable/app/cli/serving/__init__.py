"""Commands of the server: `serve` and `token`."""
