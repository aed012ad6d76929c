"""The parts and units of dates that questions may use."""

from fractions import Fraction

# The range of each part. The range of years is a little too wide on purpose: it has too many
# values to be listed as groups without declared keys.
DATE_PARTS = {
    "year": (0, 10_000),
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),
    "day": (1, 31),
    "dayofyear": (1, 366),
    "dayofweek": (0, 6),
    "isodow": (1, 7),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
}
TRUNCATION_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
# The units of DATE_DIFF, and the least number of days in each.
DIFFERENCE_UNITS = {
    "day": Fraction(1),
    "week": Fraction(7),
    "month": Fraction(28),
    "year": Fraction(365),
    "hour": Fraction(1, 24),
    "minute": Fraction(1, 24 * 60),
    "second": Fraction(1, 24 * 60 * 60),
}
# The units of INTERVAL: those of fixed length in seconds, the others in months.
SECONDS_OF = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
MONTHS_OF = {"month": 1, "quarter": 3, "year": 12}
