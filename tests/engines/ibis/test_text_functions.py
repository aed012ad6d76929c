"""Functions of text through Ibis: DuckDB's, whatever the letters."""

import pyarrow as pa
import pytest

from deniable.errors import Unsupported
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.engines import ibises

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

TEXTS = [
    *("", None, "a", "A", "abc", "it's", "50%", "a_b", "back\\slash", "nan", "a\nb", "a\x00b"),
    *(
        "é",
        "e\u0301a",
        "É",
        "ß",
        "ẞ",
        "straße",
        "İ",
        "\u0131",
        "I",
        "ŉ",
        "ﬁ",
        "ǅ",
        "ΟΔΟΣ",
        "σς",
    ),
    *(
        "\U0001f600",
        "👩\u200d👩\u200d👧x",
        "🤦🏼\u200d♂️b",
        "日本語",
        "\u00a0 x\t ",
        "\u3000y\u2003",
    ),
    *(
        "  a  ",
        "xyx",
        "]a[",
        "^-a&&~",
        "b" * 1200,
        "aéaéa",
        "%",
        "_",
        ".*",
        "(a)",
        "\\",
        "a|b",
        "σς",
    ),
]
TESTS = [
    "LOWER(t) = 'straße'",
    "LOWER(t) < 'b'",
    "UPPER(t) = 'ẞ'",
    "UPPER(t) > 'É'",
    "LOWER(t) = LOWER(UPPER(t))",
    "REVERSE(t) < t",
    "REVERSE(t) = 'ae\u0301'",
    "TRIM(t) = 'a'",
    "TRIM(t) = 'x\t'",
    "LTRIM(t) = 'a  '",
    "RTRIM(t) = '  a'",
    "LTRIM(t) = 'y\u2003'",
    "TRIM(t, 'xy') = ''",
    "TRIM(t, ']^-[&~\\') = 'a'",
    "LTRIM(t, 'a') = 'bc'",
    "RTRIM(t, '') = 'abc'",
    "SUBSTRING(t, 2) = 'bc'",
    "SUBSTRING(t, 2, 1) = 'b'",
    "SUBSTRING(t, -2, 1) = 'b'",
    "SUBSTRING(t, -4, 3) = 'ab'",
    "SUBSTRING(t, -4, 9) = 'abc'",
    "SUBSTRING(t, -9, 3) = ''",
    "SUBSTRING(t, 0, 0) = ''",
    "SUBSTRING(t, 1, -1) = ''",
    "SUBSTRING(t, 5, -3) = 'bc'",
    "SUBSTRING(t, 0, 2) = 'a'",
    "SUBSTRING(t, 0) = t",
    "SUBSTRING(t, 3, -1) = 'b'",
    "SUBSTRING(t, 9, -2) = 'bc'",
    "SUBSTRING(t, -1, -2) = 'ab'",
    "SUBSTRING(t, 2, 0) = ''",
    "SUBSTRING(t, 1, 1) = '👩'",
    "LEFT(t, 2) = 'ab'",
    "LEFT(t, -2) = 'a'",
    "LEFT(t, 0) = ''",
    "LEFT(t, -1000) = 'bb'",
    "RIGHT(t, 1) = 'é'",
    "RIGHT(t, -2) = 'c'",
    "RIGHT(t, 0) = ''",
    "LENGTH(t) < 3",
    "LENGTH(t) = 4",
    "STRPOS(t, 'é') = 2",
    "STRPOS(t, 'b') > 2",
    "STRPOS(t, '') = 1",
    "STRPOS(t, '.*') = 1",
    "STARTS_WITH(t, 'a')",
    "STARTS_WITH(t, '')",
    "ENDS_WITH(t, 'é')",
    "CONTAINS(t, '\\')",
    "CONTAINS(t, '\n')",
    "t LIKE 'a_b'",
    "t LIKE '%\\%'",
    "t LIKE '.*'",
    "t ILIKE 'STRASSE'",
    "t ILIKE 'straẞe'",
    "t ILIKE '_É%'",
    "t ILIKE 'οδος'",
    "t ILIKE 'ΣΣ'",
    "t IS DISTINCT FROM 'a'",
]


def policy():
    declared = Table.declare("odd", kind={"t": "text"})
    return Policy([declared.with_schema({"t": "VARCHAR", "o": "VARCHAR"})], epsilon=1000)


def table():
    return pa.table({"t": pa.array(TEXTS), "o": pa.array(TEXTS[::-1])})


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_tests_of_texts_are_duckdbs(backend):
    ibises.same(backend, [ibises.asked(TESTS, of="COUNT_IF({})")], policy(), table())


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_every_letter_that_has_another_form_is_duckdbs(backend):
    """But for those that Unicode has had since its version 15, as DuckDB has it."""
    known = [chr(one) for one in range(1, 0x1E944) if not 0xD800 <= one <= 0xDFFF]
    cased = [one for one in known if one.lower() != one or one.upper() != one]
    tests = ["LOWER(t) <> t", "UPPER(t) <> t", "LOWER(t) = 'ss'", "LENGTH(UPPER(t)) = 1"]
    tests += ["UPPER(LOWER(t)) = UPPER(t)", "LOWER(UPPER(t)) = LOWER(t)", "UPPER(t) > 'é'"]
    cased_table = pa.table({"t": pa.array(cased), "o": pa.array(cased)})
    assert len(cased) > 2500
    ibises.same(backend, [ibises.asked(tests, of="COUNT_IF({})")], policy(), cased_table)


OF_TWO = ["STARTS_WITH(t, o)", "ENDS_WITH(t, o)", "CONTAINS(t, o)", "STRPOS(t, o) = 1"]
OF_TWO += ["t LIKE o", "t ILIKE o", "TRIM(t, o) = ''", "LTRIM(t, o) = t", "RTRIM(t, o) = t"]


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_of_two_texts_are_duckdbs(backend):
    ibises.same(backend, [ibises.asked(OF_TWO, of="COUNT_IF({})")], policy(), table())


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_more_letters_than_a_pattern_counts_are_refused(backend):
    far = plan(
        parse("SELECT COUNT(*) FROM odd WHERE LEFT(t, -1001) = 'a'"), policy(), epsilon=1
    )
    refused = pytest.raises(Unsupported, match="DuckDB's LEFT exactly")
    with ibises.OPENED[backend]({"odd": table()}) as engine, refused:
        engine.check(far)
