"""HTTP: one application, made of routers, with the same rules for every response."""
