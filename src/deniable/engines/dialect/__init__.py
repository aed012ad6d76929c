"""Our statements in another engine's SQL dialect."""
