"""Functions under the names of other systems, and advice for those that are missing."""

import re

from deniable.errors import InvalidQuery
from deniable.exact.suggestions import did_you_mean

# Aggregates of one column under other names.
AGGREGATES = {
    "mean": "avg",
    "var": "var_samp",
    "varp": "var_pop",
    "std": "stddev_samp",
    "stdev": "stddev_samp",
    "stdevp": "stddev_pop",
}
FUNCTIONS = {"ceiling": "ceil", "pow": "power", "clamp": "clamp"}
CLOCK = frozenset(["now", "getdate", "sysdate", "today", "getutcdate", "current_timestamp"])
_KNOWN = (
    "ABS ADD_MONTHS APPROX_PERCENTILE AVG CASE CAST CEIL CLAMP CLIPPED COALESCE CONCAT "
    "CONCAT_WS CONTAINS CORR COS COUNT COUNT_IF COVAR_POP COVAR_SAMP DATE DATEADD DATEDIFF "
    "DATEPART DATE_ADD DATE_DIFF DATE_FORMAT DATE_PART DATE_TRUNC DAY DAYNAME DAYOFWEEK "
    "DAYOFYEAR ENDS_WITH EPOCH EXP EXTRACT FLOOR GREATEST HISTOGRAM HOUR IF IFF IFNULL ISNULL "
    "ISODOW LAST_DAY LEAST LEFT LENGTH LN LOG10 LOG2 LOWER LTRIM MAX MEAN MEDIAN MIN MINUTE "
    "MOD MODE MONTH MONTHNAME NULLIF NVL NVL2 PERCENTILE_CONT POWER QUANTILE_CONT QUARTER "
    "REGEXP_MATCHES REGR_INTERCEPT REGR_SLOPE REPLACE REVERSE RIGHT ROUND ROW_NUMBER RTRIM "
    "SECOND SIGN SIN SPLIT_PART SQRT STARTS_WITH STDDEV STRFTIME STRPOS SUBSTRING SUM "
    "TIMESTAMPADD TIMESTAMPDIFF TOP_K TO_CHAR TO_DATE TRIM TRUNC UPPER VARIANCE VAR_POP WEEK "
    "WEEKDAY WIDTH_BUCKET YEAR ZEROIFNULL"
)
_INSTEAD = {
    "string_agg": "It would release rows. Count each value: GROUP BY x, with COUNT(*).",
    "listagg": "It would release rows. Count each value: GROUP BY x, with COUNT(*).",
    "group_concat": "It would release rows. Count each value: GROUP BY x, with COUNT(*).",
    "array_agg": "It would release rows. Count each value: GROUP BY x, with COUNT(*).",
    "list": "It would release rows. Count each value: GROUP BY x, with COUNT(*).",
    "any_value": "It would release one row's value. Use MODE(x), MEDIAN(x) or GROUP BY x.",
    "first": "It would release one row's value. Use MODE(x), MEDIAN(x) or GROUP BY x.",
    "last": "It would release one row's value. Use MODE(x), MEDIAN(x) or GROUP BY x.",
    "squareroot": "Write SQRT(x).",
    "months_between": "Write DATE_DIFF('month', b, a), which counts the starts of months.",
    "time_bucket": "Write DATE_TRUNC('day', d), or another unit.",
    "date_bin": "Write DATE_TRUNC('day', d), or another unit.",
    "make_date": "Write the day itself, as in DATE '2026-01-31'.",
    "decode": "Write CASE x WHEN 1 THEN 'a' ELSE 'b' END.",
    "percentile": "Write QUANTILE_CONT(x, 0.5).",
    "percentile_approx": "Write QUANTILE_CONT(x, 0.5).",
    "json_value": "Write x ->> '$.a', the text there.",
    "age": "Write DATE_DIFF('day', a, b), or 'year' instead of 'day'.",
    "lag": "Write LAG(x) OVER (PARTITION BY the privacy unit ORDER BY d) in a sub-query.",
}
_OF_LISTS = re.compile(r"(list|array)_\w+|cardinality|flatten|size|inline", re.I)
LISTS = (
    "Lists are read by UNNEST, as in SELECT COUNT(*) FROM visits, UNNEST(visits.codes) AS "
    "u(code) WHERE code = 'I10', or GROUP BY code."
)
_WRITING_DATES = frozenset(["strftime", "to_char", "date_format"])


def advise_unparsed(text: str) -> str:
    """Advice for a text that is not valid SQL because a function takes other arguments here.

    >>> advise_unparsed("SELECT DATE_DIFF(a, b) FROM t")
    "DATE_DIFF takes a unit first, as in DATE_DIFF('day', a, b)."
    """
    called = re.search(r"\b(DATE_DIFF|DECODE)\s*\(", text, re.IGNORECASE)
    if called is None:
        return ""
    name = called[1].upper()
    if name == "DECODE":
        return f"{name} is not known. {_INSTEAD['decode']}"
    return f"{name} takes a unit first, as in {name}('day', a, b)."


def unknown_function(name: str) -> InvalidQuery:
    """The refusal of a function that is not known, with the nearest one that is.

    >>> print(unknown_function("averag"))
    There is no function AVERAG. Did you mean `AVG`? docs/reference/sql.md lists all functions.
    """
    if name.lower() in CLOCK:
        return InvalidQuery(
            f"{name.upper()} is not supported: its value changes from run to run. Write the "
            "value itself, as in DATE '2026-01-31'."
        )
    if name.lower() == "array":  # what brackets are called
        return InvalidQuery(
            "A list in square brackets is read as the quantiles of one column, as in "
            "QUANTILE(age, [0.25, 0.75]), and nowhere else. HISTOGRAM takes a number of bins, "
            "as in HISTOGRAM(age, 10), and IN takes round brackets."
        )
    if name.lower() in _WRITING_DATES:
        return InvalidQuery(
            f"{name.upper()} is supported here with one part of a date, such as '%m' or '%H', "
            "and where it is compared with a constant or selected and grouped by, from the "
            "year down, as in '%Y-%m'. Or write DATE_TRUNC('month', d) or EXTRACT(month FROM "
            "d)."
        )
    hint = _INSTEAD.get(name.lower()) or _nearest(name)
    hint = LISTS if name.lower() not in _INSTEAD and _OF_LISTS.fullmatch(name) else hint
    where = "docs/reference/sql.md lists all functions."
    parts = (f"There is no function {name.upper()}.", hint, where)
    return InvalidQuery(" ".join(part for part in parts if part))


def _nearest(name: str) -> str:
    if name.lower().startswith(("avr", "aver")):
        return "Did you mean `AVG`?"
    return did_you_mean(name, _KNOWN.split(" "))
