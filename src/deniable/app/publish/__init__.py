"""Released tables, written where other tools read them: Parquet, DuckDB, PostgreSQL."""
