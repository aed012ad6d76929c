"""Commands of the server and its people: `serve`, `user`, `token` and `who`."""
