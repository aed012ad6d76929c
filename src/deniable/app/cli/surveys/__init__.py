"""The commands of `deniable survey` that collect: serve, invite, close, send, check."""
