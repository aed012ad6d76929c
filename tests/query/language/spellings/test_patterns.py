import itertools

import duckdb
import pytest
import sqlglot

import deniable as dp
from deniable.query.language.spellings.patterns import rewrite_pattern

TEXTS = [
    "".join(letters) for n in range(4) for letters in itertools.product("ab1.\n", repeat=n)
]
TEXTS += ["c-1", "c-12", "A%_!", "ÄB", "10%", "a_b", "ab|", "xaby", "Ab", "AB"]
PATTERNS = [
    "a",
    "^a",
    "a$",
    "^a$",
    "^ab?",
    "^(a|b)1$",
    "[ab]1",
    "a|b1",
    "^a.b$",
    "^a.*$",
    "a.*",
]
PATTERNS += ["^(?:ab|1)", r"\.", r"^\d", "[0-9]+", "%", "_", "!", "^c-[0-3]$", ".*ab", "", "ä"]
PATTERNS += ["^a.*b$", "(a|b)(a|b)", "^$", "[a-b1]$"]
FORMS = ["REGEXP_MATCHES(t, {})", "t ~ {}", "REGEXP_FULL_MATCH(t, {})", "NOT t ~ {}"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_like_says_the_same_as_the_regular_expression(pattern, form):
    text = form.format(f"'{pattern}'")
    tree = sqlglot.parse_one(text, dialect="duckdb")
    node = tree.this if form.startswith("NOT") else tree
    if form == FORMS[2] and pattern == "[0-9]+":
        with pytest.raises(dp.InvalidQuery):
            rewrite_pattern(node)
        return
    spelling = rewrite_pattern(node).sql("duckdb")
    spelling = f"NOT {spelling}" if form.startswith("NOT") else spelling
    values = ", ".join(
        "(" + repr(sample) + ")" if "\n" not in sample else f"(E{sample!r})" for sample in TEXTS
    )
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE texts AS SELECT * FROM (VALUES {values}) AS v(t)")
        different = database.execute(
            f"SELECT t FROM texts WHERE ({text}) IS DISTINCT FROM ({spelling})"
        ).fetchall()
    assert different == [], spelling


@pytest.mark.parametrize(
    "pattern",
    [
        *[
            "a{2}",
            "a+b",
            "(a",
            "a)",
            "[^a]",
            "[a",
            r"\w",
            r"a\b",
            "a**",
            "a.b",
            "+",
            "(a|b){3}",
        ],
        *["[a-Z]", "[]", "x(?i)", "^a|b$", r"\d\d\d\d"],
    ],
)
def test_other_patterns_are_refused_in_words(pattern):
    with pytest.raises(dp.InvalidQuery, match="LIKE"):
        rewrite_pattern(sqlglot.parse_one(f"t ~ '{pattern}'", dialect="duckdb"))


@pytest.mark.parametrize("text", ["REGEXP_MATCHES(t, u)", "REGEXP_MATCHES(t, 'a', 'i')"])
def test_the_pattern_must_be_a_constant_without_flags(text):
    with pytest.raises(dp.InvalidQuery, match="constant"):
        rewrite_pattern(sqlglot.parse_one(text, dialect="duckdb"))


def test_ilike_ignores_the_case():
    rewritten = rewrite_pattern(sqlglot.parse_one("t ~* '^ab'", dialect="duckdb")).sql("duckdb")
    assert rewritten == "t ILIKE 'ab%'"
