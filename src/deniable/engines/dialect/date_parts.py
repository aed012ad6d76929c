"""Parts of moments, by the names that DuckDB, Spark and PostgreSQL have for them."""

# DuckDB's name: Spark's, PostgreSQL's, and what Spark's number must be lowered by.
DATE_PARTS: dict[str, tuple[str, str, int]] = {
    "YEAR": ("YEAR", "YEAR", 0),
    "QUARTER": ("QUARTER", "QUARTER", 0),
    "MONTH": ("MONTH", "MONTH", 0),
    "WEEK": ("WEEK", "WEEK", 0),
    "DAY": ("DAY", "DAY", 0),
    "DAYOFYEAR": ("DOY", "DOY", 0),
    "DAYOFWEEK": ("DAYOFWEEK", "DOW", 1),
    "ISODOW": ("DAYOFWEEK_ISO", "ISODOW", 0),
    "HOUR": ("HOUR", "HOUR", 0),
    "MINUTE": ("MINUTE", "MINUTE", 0),
}
TRUNCATION_UNITS = frozenset({"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR"})
