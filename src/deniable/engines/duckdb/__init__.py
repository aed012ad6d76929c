"""DuckDB, in this process: over files, frames and DuckDB databases."""
