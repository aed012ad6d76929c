"""Parts of dates and moments, by their names in DuckDB, Spark and PostgreSQL."""

# DuckDB's name: Spark's, PostgreSQL's, and the number to subtract from Spark's result.
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
    "SECOND": ("SECOND", "SECOND", 0),
}
SECONDS_OF = {"HOUR": 3600, "MINUTE": 60, "SECOND": 1}  # units shorter than a day
TRUNCATION_UNITS = frozenset({"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", *SECONDS_OF})
