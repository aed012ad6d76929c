"""DuckDB, in this process: files, frames and DuckDB databases."""
