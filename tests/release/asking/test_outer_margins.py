"""Margins of SQL over released rows: how often they hold, and which numbers have no margin."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pyarrow as pa
import pytest

from deniable.query.outer.noise_dependence import Kind, NoiseDependence
from deniable.query.outer.repeated_column import RepeatedColumn
from deniable.release.asking import outer_margins
from deniable.release.asking.released_questions import ask_released
from tests.release.asking import outer_coverage


def test_margins_hold_for_forty_expressions(size):
    trials = size(small=15, full=1500, what="answers with forty expressions each")
    counts = outer_coverage.count_misses(trials)
    assert len(counts) == 40
    short = {}
    for name, (misses, values, shown) in counts.items():
        rows = 24 if values >= 20 * trials else max(1, values // trials)
        # Values of one answer may share all of their noise: they count as one.
        answers = max(1, values // rows)
        if shown and misses / shown > 0.05 + 4 * sqrt(0.05 * 0.95 / answers):
            short[name] = misses / shown
    assert short == {}
    jumping = {"largest", "rank", "above", "many"}
    assert {name for name, (_, _, shown) in counts.items() if not shown} == jumping


@pytest.fixture(scope="module")
def session():
    return outer_coverage.make_session()[0]


def ask(session, text, **options):
    return session.sql(text.format(outer_coverage.INNER), epsilon=1, **options)


def test_unchanged_numbers_have_the_margin_that_they_were_released_with(session):
    inner = session.sql(outer_coverage.INNER, epsilon=1)
    answer = ask(session, "SELECT k, size, n AS heads FROM ({}) ORDER BY k, size")
    assert answer.to_arrow()["heads_margin"].to_pylist() == [inner.plan.outputs[2].margin] * 24


def test_chosen_rows_have_wider_margins(session):
    plain = ask(session, "SELECT n FROM ({})").to_arrow()["n_margin"][0].as_py()
    chosen = ask(session, "SELECT n FROM ({}) ORDER BY n DESC LIMIT 2")
    assert min(chosen.to_arrow()["n_margin"].to_pylist()) > 1.5 * plain
    assert "all rows together" in str(chosen)


def test_an_average_and_a_count_that_share_noise_have_no_margin(session):
    text = (
        f"SELECT k, mean, mean / n AS odd, mean * 2 AS twice FROM ({outer_coverage.AVERAGES})"
    )
    answer = session.sql(text, epsilon=1)
    assert set(answer.answer.margins) == {"mean", "twice"}
    assert "No margin is known for odd." in str(answer)


def test_shared_noise_is_seen_under_two_names(session):
    release = session.sql(outer_coverage.AVERAGES, epsilon=1)
    sql = "SELECT a.mean / b.n AS odd, a.n + b.n AS both FROM a JOIN b USING (k, size)"
    answer, _ = ask_released(sql, {"a": release, "b": release})
    twice, _ = ask_released("SELECT n + n AS both FROM a", {"a": release})
    assert set(answer.margins) == {"both"}
    halves = [set(each.table[each.margins["both"]].to_pylist()) for each in (answer, twice)]
    assert min(halves[0]) > 0.8 * max(halves[1])


@pytest.mark.parametrize("part", ["3000 / n", "SUM(n) OVER () / (2 + k)", "1 / (3 / n)"])
def test_a_ratio_with_a_public_part_has_a_margin_and_takes_none_from_others(session, part):
    answer = ask(session, f"SELECT k, size, n AS heads, {part} AS ratio FROM ({{}})")
    assert set(answer.answer.margins) >= {"heads", "ratio"}


def test_a_float_is_a_double_because_its_rounding_is_in_no_margin(session):
    text = "SELECT n, CAST(n + 1000000000000 AS FLOAT) - 1000000000000 AS same FROM ({})"
    answer = ask(session, text)
    assert answer["same"] == answer["n"]
    table = answer.to_arrow()
    assert table["same_margin"][0].as_py() == pytest.approx(
        table["n_margin"][0].as_py(), abs=0.02
    )


def test_far_fewer_draws_for_many_groups(session):
    many = ask(session, "SELECT SUM(a.n) AS s FROM ({}) AS a").to_arrow()
    assert 5 < many["s_margin"][0].as_py() < 60


def test_a_number_whose_margin_is_unknown_takes_no_margin_from_others():
    column = RepeatedColumn(NoiseDependence(Kind.AFFINE), own_margin="n__margin")
    drawn = pa.table({"n__margin": pa.array([3.0, None])})
    cells = np.array([[0, 1]])
    half = outer_margins._margin(column, cells, drawn, 0, Fraction(19, 20), None)
    own = np.array([0, 1])
    assert outer_margins._largest(half, own, own).tolist() == [3.0, np.inf]


@pytest.mark.parametrize(
    "part",
    [
        "(n + 1e18) - 1e18",
        "SUM(n) OVER () + 1e18 - 1e18",
        "SUM(n - 1e17) OVER () + 24e17",
        "LN(n + 900) + 1e17 - 1e17",
        "(n + 900) * 1e18 - n * 1e18",
        "CAST(n + 1e18 - 1e18 AS BIGINT)",
    ],
)
def test_a_margin_covers_what_cancels_in_doubles(session, part):
    """Doubles near 1e18 are 128 apart, and those near 1e17 are 16 apart."""
    table = ask(session, f"SELECT k, size, {part} AS v FROM ({{}})").to_arrow()
    assert min(table["v_margin"].to_pylist()) > 32


def test_a_margin_covers_what_cancels_after_a_sub_query(session):
    text = "SELECT v - 1e18 AS w FROM (SELECT k, n + 1e18 AS v FROM ({})) AS wide"
    assert min(ask(session, text).to_arrow()["w_margin"].to_pylist()) > 128
    below = "SELECT {} AS w FROM (SELECT k, (n + 1e18) - 1e18 AS v FROM ({{}})) AS wide"
    for part in ("v", "SUM(v)"):
        assert (
            min(
                session.sql(below.format(part).format(outer_coverage.INNER), epsilon=1)
                .to_arrow()["w_margin"]
                .to_pylist()
            )
            > 128
        )
    scalar = "SELECT k, (SELECT SUM(n) + 1e18 FROM ({})) - 1e18 AS w FROM ({})"
    answer = session.sql(scalar.format(*[outer_coverage.INNER] * 2), epsilon=1)
    assert "No margin is known for w." in str(answer)


def test_whole_numbers_are_exact_so_their_margins_are_whole(session):
    text = "SELECT n * 3 - 7 AS v, s - 20 * n AS w, n + 9000000000000000000 AS x FROM ({})"
    table = ask(session, text).to_arrow()
    n = ask(session, "SELECT n FROM ({})").to_arrow()["n_margin"][0].as_py()
    assert table["v_margin"].to_pylist() == [3 * n] * 24
    assert str(table["w_margin"].type) == "int64"
    assert table["x_margin"].to_pylist() == [n] * 24


@pytest.mark.parametrize(
    "part",
    [
        "(SELECT COUNT(*) FROM (SELECT DISTINCT size FROM ({0})))",  # cannot be rewritten
        "SUM(n) OVER () + 1000000000000000000 - 1000000000000000000",  # doubles differ
        "ANY_VALUE(n) OVER (ORDER BY k)",
        "SUM(n) FILTER (WHERE max) OVER ()",
    ],
)
def test_a_column_without_a_margin_takes_none_from_others(session, part):
    text = f"SELECT k, {part} AS odd, n AS heads, n / SUM(n) OVER () AS share, "
    text += "SUM(n) OVER (ORDER BY k, size) AS run FROM (SELECT *, n > 9 AS max FROM ({0}))"
    answer = session.sql(text.format(outer_coverage.INNER), epsilon=1)
    assert set(answer.answer.margins) == {"heads", "share", "run"}
    assert "heads" in str(answer)


def test_rows_chosen_by_a_column_without_a_margin_are_chosen_by_noise(session):
    odd = "(SELECT MAX(n) FROM (SELECT DISTINCT n FROM ({0})) AS d WHERE d.n <= g.n)"
    text = f"SELECT k, n AS heads, {odd} AS odd FROM ({{0}}) AS g ORDER BY odd DESC LIMIT 2"
    plain = ask(session, "SELECT n FROM ({})").to_arrow()["n_margin"][0].as_py()
    answer = session.sql(text.format(outer_coverage.INNER), epsilon=1)
    assert "all rows together" in str(answer)
    assert min(answer.to_arrow()["heads_margin"].to_pylist()) > 1.5 * plain


JOINED = "SELECT g.k, g.n * v.f AS wide, v.f, g.n FROM ({}) AS g"


@pytest.mark.parametrize("side", ["JOIN", "LEFT JOIN"])
def test_numbers_joined_with_constants_have_their_margins(session, side):
    text = f"{JOINED} {side} (VALUES (1, 3), (2, 5)) AS v(k, f) ON g.k = v.k"
    answer = ask(session, text)
    assert set(answer.answer.margins) == {"wide", "n"}
    rows = [row for row in answer.to_arrow().to_pylist() if row["f"] is not None]
    assert len(rows) == 4
    for row in rows:
        assert row["wide_margin"] == pytest.approx(row["f"] * row["n_margin"])


def test_sums_over_labels_of_constants_have_margins(session):
    text = (
        "SELECT v.label, SUM(g.n) AS s FROM ({}) AS g JOIN (VALUES (1, 'a'), (2, 'a'), "
        "(3, 'b')) AS v(k, label) ON g.k = v.k GROUP BY v.label ORDER BY v.label"
    )
    wide, narrow = ask(session, text).to_arrow()["s_margin"].to_pylist()
    assert wide > narrow > 0


def test_a_named_window_is_one_that_is_written_out(session):
    named = (
        "SELECT k, SUM(n) OVER (w ORDER BY k) AS s FROM ({}) WINDOW w AS (PARTITION BY size)"
    )
    plain = "SELECT k, SUM(n) OVER (PARTITION BY size ORDER BY k) AS s FROM ({})"
    first, other = ask(session, named), ask(session, plain)
    assert first["s"] == other["s"]
    assert set(first.answer.margins) == {"s"}
    halves = [np.array(answer.to_arrow()["s_margin"].to_pylist()) for answer in (first, other)]
    assert np.all(halves[0] > 0.4 * halves[1])
    assert np.all(halves[1] > 0.4 * halves[0])


def test_ordered_set_aggregates_of_groups(session):
    text = "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY n) AS m, SUM(n) AS s FROM ({})"
    answer = ask(session, text)
    assert set(answer.answer.margins) == {"s"}
    values = session.sql(outer_coverage.INNER, epsilon=1).to_arrow()["n"].to_pylist()
    assert answer.to_arrow()["m"][0].as_py() == np.median(values)


@pytest.mark.parametrize("name", ["n__margin", "_row", "_draw", "s__size"])
def test_a_released_column_with_a_name_of_ours_is_shown_as_it_is(session, name):
    inner = f"SELECT k, size, COUNT(*) AS n, SUM(x) AS {name} FROM t GROUP BY k, size"
    released = session.sql(inner, epsilon=1)
    answer = session.sql(f"SELECT * FROM ({inner})", epsilon=1)
    assert answer[name] == released[name]
    assert answer["n"] == released["n"]
    assert not answer.answer.margins
    assert "No margins are known" in str(answer)


def test_a_formula_that_is_not_what_the_sql_says_gives_no_margin():
    share = RepeatedColumn(NoiseDependence(Kind.SMOOTH), ("a", "b"))
    above, below = np.array([[10.0, 30.0, 5.0]]), np.array([[40.0, 40.0, 0.0]])
    right, wrong = (pa.chunked_array([[0.25, last, None]]) for last in (0.75, 0.76))
    assert outer_margins._repeats([above, below], right, share)
    assert not outer_margins._repeats([above, below], wrong, share)
    rounded = RepeatedColumn(share.dependence, share.values, rounding=0.1)
    assert outer_margins._repeats([above, below], wrong, rounded)
    assert not outer_margins._repeats([above], right, rounded)


def test_margins_need_formulas_that_repeat_the_answer(session, monkeypatch):
    text = "SELECT k, n / SUM(n) OVER () AS share, n AS heads FROM ({})"
    assert set(ask(session, text).answer.margins) == {"share", "heads"}
    monkeypatch.setattr(outer_margins, "_repeats", lambda *_: False)
    assert set(ask(session, text).answer.margins) == {"heads"}
