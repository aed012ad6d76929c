"""Names in backticks and brackets become names in double quotes; nothing else changes."""

import pytest

from deniable.errors import InvalidQuery
from deniable.query.language.parse import parse, parse_expression
from deniable.query.language.quoted_names import quote_names


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("`a b`.`c`", '"a b"."c"'),
        ("[a b].[c]", '"a b"."c"'),
        ('`a"b`', '"a""b"'),
        ("[größe]", '"größe"'),
        ("f([a],[b])", 'f("a","b")'),
        ("[a]=[b]", '"a"="b"'),
    ],
)
def test_names_are_quoted(text, quoted):
    assert quote_names(text) == quoted


@pytest.mark.parametrize(
    "text",
    [
        "QUANTILE_CONT(x, [0.25, 0.5])",
        "x = ANY (['a', 'b'])",
        "x = ANY ([1])",
        "'`a` [b]'",
        '"`a` [b]"',
        "'it''s [b]'",
        "-- [b] `c`\n1",
        "/* [b] `c` */ 1",
        "$$ [b] `c` $$",
        "'[b]",
        "/* [b]",
        "`b",
        "x[1]",
        "k[g]",
        "f(k)[g]",
        '"k"[g]',
        "x[1][g]",
        "'abc'[g]",
        "[]",
        "[a, b]",
    ],
)
def test_everything_else_stays(text):
    assert quote_names(text) == text


def test_long_texts_take_one_pass():
    for piece in ("/*", "'", "`", "[", "[a", "--", "$$"):
        assert len(quote_names(piece * 40_000)) >= 39_999


@pytest.mark.parametrize("text", ["SELECT k[g], COUNT(*) FROM t", "SELECT `k`[g] FROM t"])
def test_an_index_is_refused_and_is_no_other_name(text):
    with pytest.raises(InvalidQuery):
        parse(text)


def test_questions_and_expressions_may_use_them():
    plain = parse('SELECT "ward", COUNT(*) FROM "visits" GROUP BY "ward"')
    assert parse("SELECT [ward], COUNT(*) FROM `visits` GROUP BY [ward]") == plain
    assert parse_expression("[cost] > 3") == parse_expression("cost > 3")
