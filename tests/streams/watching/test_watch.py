"""Standing questions: one charge, steps read once, and a person's life in all of them."""

import copy
import datetime
import pickle
from dataclasses import replace
from datetime import date
from fractions import Fraction
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dp
from deniable.errors import InvalidParameter, InvalidQuery, PlanRefused
from deniable.query.plan.statement_text import tree_of
from deniable.release.session.door import stream_door
from deniable.streams.counting.promise import Promise
from deniable.streams.watching import watch
from deniable.streams.watching.watch import Watch
from deniable.streams.watching.watch_plans import WatchQuestion, row_values

NO_NOISE = 10**6
COUNT = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"
SUM = "SELECT day, SUM(cost) AS cost FROM visits WHERE cost > -9 GROUP BY day"
YEAR = {"since": "2026-01-01", "until": "2026-12-31"}


def day(number):
    return date(2026, 1, 1) + datetime.timedelta(number - 1)


def frame(rows):
    """A table of (day, patient, cost)."""
    days, patients, costs = zip(*rows, strict=True)
    types = pa.schema([("day", pa.date32()), ("patient", pa.int64()), ("cost", pa.float64())])
    return pa.table(
        {"day": [day(d) for d in days], "patient": patients, "cost": costs}, schema=types
    )


def protect(rows, **options):
    limits = {"bounds": {"cost": (-2, 10)}, "step": {"cost": 0.5}, "epsilon": 10**9}
    return dp.protect(frame(rows), name="visits", **limits | options)


PERSONS = {"unit": "patient", "max_groups_per_unit": 1, "max_rows_per_unit_per_group": 2}
ROWS = [(1, 1, 3.0), (1, 1, 4.0), (1, 2, 5.0), (2, 1, 99.0), (4, 2, -99.0), (4, 3, 1.0)]


def test_counts_and_sums_by_day():
    data = protect(ROWS)
    counts = data.watch(COUNT, **YEAR, epsilon=NO_NOISE).read("2026-01-05")
    assert counts.values == (3, 1, 0, 2, 0)
    assert counts.totals == (3, 4, 4, 6, 6)
    assert (counts.total, counts.promise) == (6, "one event at one time (it may come or go)")
    assert counts.rows()[1]["day"] == day(2)
    assert counts.to_arrow().column_names == ["day", "n", "margin", "total", "total_margin"]
    sums = data.watch(SUM, **YEAR, epsilon=NO_NOISE).read("2026-01-04")
    assert sums.values == pytest.approx((12.0, 10.0, 0.0, -1.0))
    assert len(data.ledger.entries) == 2


def test_one_charge_and_every_reading_is_a_step_of_it():
    data = protect(ROWS, epsilon=1, delta=1e-6)
    watch = data.watch(COUNT, **YEAR, epsilon=1)
    first = watch.read("2026-01-02")
    later = watch.read("2026-01-20")
    assert later.values[:2] == first.values
    assert watch.read("2026-01-20").values == later.values
    assert watch.read("2026-01-01").values == later.values  # nothing is taken back
    assert data.remaining.epsilon < Fraction(1, 10**9)
    steps = [row.read() for row in data.ledger._journal.read_all()[0]]
    hashes = [body["plan"]["plan"] for body in steps if body["kind"] == "step"]
    assert len(hashes) == 3  # begun, and two readings
    assert hashes[0] is None
    assert len(set(hashes[1:])) == 2
    assert data.ledger.verify()


def test_weeks_and_windows_and_waiting():
    data = protect([(number, 1, 1.0) for number in range(1, 31)])
    weeks = data.watch(COUNT, **YEAR, every="week", epsilon=NO_NOISE, name="weeks")
    assert weeks.read("2026-01-20").values == (7, 7)
    last = data.watch(COUNT, **YEAR, window=3, epsilon=NO_NOISE, name="window")
    assert last.read("2026-01-05").totals == (1, 2, 3, 3, 3)
    late = data.watch(COUNT, **YEAR, wait=3, epsilon=NO_NOISE, name="late")
    assert len(late.read("2026-01-05").values) == 2
    assert weeks.name == "weeks"
    assert repr(late).startswith("<watch late: 2 of 365 steps")


def test_a_growing_table(tmp_path):
    """Late, corrected and repeated rows do not change a day that was read."""
    source, policy = tmp_path / "visits.csv", tmp_path / "policy.toml"
    policy.write_text(
        '[budget]\nepsilon = 10000000\n[tables.visits]\nsource = "visits.csv"\n'
        '[tables.visits.columns.day]\nkind = "date"\n',
        encoding="utf-8",
    )

    def read(rows, through):
        source.write_text("day\n" + "".join(f"2026-01-0{d}\n" for d in rows), encoding="utf-8")
        with dp.open(policy) as session:
            watch = session.watch(COUNT, **YEAR, epsilon=NO_NOISE)
            return watch.read(through).values

    assert read([1, 1, 2], "2026-01-01") == (2,)
    assert read([1, 1, 1, 2], "2026-01-02") == (2, 1)  # one came late
    assert read([2, 2, 3, 3], "2026-01-03") == (2, 1, 2)  # one was moved, and one repeated
    assert read([], "2026-01-04") == (2, 1, 2, 0)


def test_each_reading_names_the_version_of_the_table(tmp_path):
    source, policy = tmp_path / "visits.csv", tmp_path / "policy.toml"
    source.write_text("day\n2026-01-01\n", encoding="utf-8")
    policy.write_text(
        '[budget]\nepsilon = 10\n[tables.visits]\nsource = "visits.csv"\nversion = "1"\n'
        '[tables.visits.columns.day]\nkind = "date"\n',
        encoding="utf-8",
    )
    versions = []
    for step in (1, 2):
        with dp.open(policy) as session:
            opened = session.watch(COUNT, **YEAR, epsilon=1)
            opened.read(day(step))
            versions = [record["version"] for record in opened._stepping.stored.records()]
        policy.write_text(policy.read_text().replace('version = "1"', 'version = "2"'))
    assert [name.partition("#")[0] for name in versions] == ["visits=1", "visits=2"]


def test_a_persons_life_in_all_steps():
    rows = [(1, 7, 1.0), (1, 7, 1.0), (2, 7, 1.0), (3, 7, 1.0), (3, 8, 1.0), (9, 8, 1.0)]
    data = protect(rows, **PERSONS)
    watch = data.watch(COUNT, **YEAR, epsilon=NO_NOISE, per_person=3)
    assert watch.read("2026-01-01").values == (2,)
    assert watch.read("2026-01-03").values == (2, 1, 1)
    again = data.watch(COUNT, **YEAR, epsilon=NO_NOISE, per_person=3)
    assert again.read("2026-01-09").values == (2, 1, 1, 0, 0, 0, 0, 0, 1)
    assert "all events of one patient: at most 3 count" in str(again.read("2026-01-09"))
    whole = data.watch(COUNT, **YEAR, epsilon=NO_NOISE, per_person=3, name="at once")
    assert whole.read("2026-01-09").values == again.read("2026-01-09").values


def test_corrections_give_a_person_no_new_room(tmp_path):
    """The tally is stored. It is not computed again from the table, where rows may vanish."""
    source, policy = tmp_path / "visits.csv", tmp_path / "policy.toml"
    policy.write_text(
        '[budget]\nepsilon = 10000000\n[tables.visits]\nsource = "visits.csv"\n'
        'unit = "patient"\nmax_groups_per_unit = 1\nmax_rows_per_unit_per_group = 2\n'
        '[tables.visits.columns.day]\nkind = "date"\n',
        encoding="utf-8",
    )
    values = ()
    for step in range(1, 6):  # each day's rows are removed after it was read
        source.write_text(f"day,patient\n2026-01-0{step},7\n2026-01-0{step},7\n")
        with dp.open(policy) as session:
            watch = session.watch(COUNT, **YEAR, epsilon=NO_NOISE, per_person=3)
            values = watch.read(day(step)).values
    assert values == (2, 1, 0, 0, 0)


def test_no_person_moves_the_steps_further_than_promised(size):
    """Any table, any moments of reading: with and without one person."""
    tables = size(small=4, full=200, what="random tables that are watched with and without one")
    chance = Random(5)
    for number in range(tables):
        rows = [(chance.randint(1, 5), chance.randint(1, 3), 9.0) for _ in range(14)]
        moments = sorted(chance.sample(range(1, 6), 2))
        text, most = (COUNT, 1) if number % 2 else (SUM, 20)
        readings = []
        for gone in (None, 1, 2, 3):
            data = protect([row for row in rows if row[1] != gone] or [(9, 9, 0.0)], **PERSONS)
            watch = data.watch(text, **YEAR, epsilon=NO_NOISE, per_person=3)
            for moment in moments:
                watch.read(day(moment))
            records = watch._stepping.stored.records()
            readings.append([step[0] for record in records for step in record["steps"]])
        for other in readings[1:]:
            moved = sum(abs(a - b) for a, b in zip(readings[0], other, strict=True))
            assert moved <= 3 * most


def test_sums_of_persons_count_days_as_most_rows():
    rows = [(1, 7, 3.0), (2, 7, 4.0), (3, 7, 5.0), (1, 8, 99.0), (1, 8, 99.0), (1, 8, 99.0)]
    data = protect(rows, **PERSONS)
    watch = data.watch(SUM, **YEAR, epsilon=NO_NOISE, per_person=4)
    # Two rows a day count, so a person with four has two days.
    assert watch.read("2026-01-03").values == pytest.approx((23.0, 4.0, 0.0))


def test_whatever_an_engine_returns_a_person_counts_as_promised():
    data = protect(ROWS, **PERSONS)
    sums = data.watch(SUM, **YEAR, epsilon=1, per_person=4)
    totals = [
        sums._counted(person, number) for person, number in (("a", 10**9), ("b", -(10**9)))
    ]
    assert totals == [40, -8]  # two rows, from -2 to 10, in halves
    assert [sums._counted("a", 10**9), sums._counted("a", 10**9)] == [40, 0]
    counts = data.watch(COUNT, **YEAR, epsilon=1, per_person=3)
    numbers = (("a", 10**9), ("a", 1), ("b", -7), ("b", 2))
    assert [counts._counted(*number) for number in numbers] == [3, 0, 0, 2]


def test_the_kernel_checks_each_reading_and_nothing_else_may_run_it():
    data = protect(ROWS, **PERSONS)
    question = WatchQuestion.read(data, COUNT)
    plan = question.plan(data, [day(1), day(2)], 3, Fraction(1))
    most = Promise(person="patient", per_person=3).moves(2, 3)
    parts = stream_door(data).check(plan, most, ["visits"]).verdict.parts
    assert [(part.l1, part.declared) for part in parts] == [(6, 6)]
    assert most == (6, 18)
    with pytest.raises(PlanRefused, match="without a threshold"):
        data.release(plan)
    wider = plan.engine_sql.replace("c > 3", "c > 9").replace("* 3 //", "* 9 //")
    assert wider != plan.engine_sql
    assert tree_of(wider)
    with pytest.raises(PlanRefused, match="One unit moves"):
        stream_door(data).check(replace(plan, engine_sql=wider), most, ["visits"])


@pytest.mark.parametrize("options", [{}, {"neighbors": "replace"}, PERSONS])
def test_noise_for_less_than_the_kernel_derives_is_refused(options, monkeypatch):
    """The promise is made by planner code. It is compared with the kernel's own numbers."""
    data, terms = protect(ROWS, **options), {"epsilon": 1, **YEAR}
    if "unit" in options:
        terms["per_person"] = 3
    begun = data.watch(SUM, **terms, name="begun")
    monkeypatch.setattr(watch, "row_values", lambda plan: (-4, 19, row_values(plan)[2]))
    with pytest.raises(PlanRefused, match="the noise of this stream is made for"):
        data.watch(SUM, **terms, name="less")
    assert len(data.ledger.entries) == 1
    less = replace(begun.promise, high=19)
    monkeypatch.setattr(Watch, "promise", less)
    with pytest.raises(PlanRefused, match="the noise of this stream is made for"):
        begun.read("2026-01-02")
    assert begun.steps == 0


def test_less_room_for_signs_is_refused_where_rows_are_replaced(monkeypatch):
    """The largest value is the same, and the width of the range is not."""
    data = protect(ROWS, neighbors="replace", bounds={"cost": (-10, 10)})
    monkeypatch.setattr(watch, "row_values", lambda plan: (0, 20, row_values(plan)[2]))
    with pytest.raises(PlanRefused, match="square of L2: 1600"):
        data.watch(SUM, epsilon=1, **YEAR)


def test_a_unit_that_may_be_written_in_two_ways_is_refused_in_words():
    rows = frame(ROWS).set_column(1, "patient", pa.array([1.0, 1.0, 2.0, -0.0, 0.0, 3.0]))
    data = dp.protect(rows, name="visits", unit="patient", epsilon=10)
    with pytest.raises(InvalidParameter, match=r"two tallies.*Nothing was spent"):
        data.watch(COUNT, **YEAR, epsilon=1, per_person=3)
    assert data.remaining.epsilon == 10


TWO_TABLES = """
[budget]
epsilon = 10
delta = 1e-6
[tables.visits]
source = "visits.parquet"
unit = "patient"
[tables.staff]
source = "staff.parquet"
unit = "patient"
epsilon = 3
delta = 1e-6
"""
OF_STAFF = (
    "SELECT day, COUNT(*) AS n FROM visits WHERE patient IN (SELECT patient FROM staff) "
    "GROUP BY day"
)


def test_every_table_that_a_watch_reads_is_charged(tmp_path):
    """Also one in WHERE, which may have a budget of its own."""
    pq.write_table(frame(ROWS), tmp_path / "visits.parquet")
    pq.write_table(pa.table({"patient": [1, 3]}), tmp_path / "staff.parquet")
    (tmp_path / "policy.toml").write_text(TWO_TABLES)
    terms = {**YEAR, "per_person": 3}
    with dp.open(tmp_path / "policy.toml") as session:
        watch = session.watch(OF_STAFF, epsilon=1, **terms)
        assert len(watch.read("2026-01-03").values) == 3
        spent = {usage.account: usage.spent for usage in session.ledger.filter_usages()}
        assert spent["table:staff"] == spent["unit:*"] == 1
        with pytest.raises(dp.BudgetExhausted):
            session.watch(OF_STAFF, epsilon=3, name="again", **terms)
        plan = watch._question.plan(session, [day(1)], 3, Fraction(1))
        with pytest.raises(PlanRefused, match="not charged for"):
            stream_door(session).check(plan, (10**9, 10**9), ["visits"])


def test_only_the_unit_is_withheld():
    data = protect(ROWS, **PERSONS)
    plan = WatchQuestion.read(data, COUNT).plan(data, [day(1), day(2)], 3, Fraction(1))
    most, dates = (6, 18), plan.keys[0]
    both = replace(plan, keys=(replace(dates, values=None), plan.keys[1]))
    with pytest.raises(PlanRefused, match="Private keys are shown"):
        stream_door(data).check(both, most, ["visits"])
    other = replace(both, keys=(both.keys[0], replace(plan.keys[1], values=dates.values)))
    with pytest.raises(PlanRefused, match="not the unit"):
        stream_door(data).check(other, most, ["visits"])


def test_nothing_public_reads_exact_numbers():
    opened = protect(ROWS).watch(COUNT, **YEAR, epsilon=1)
    assert not {"door", "session", "question"} & set(dir(opened))
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            copied(opened)


def test_explain_spends_nothing():
    data = protect(ROWS, epsilon=1, delta=1e-6)
    text = str(data.watch(COUNT, **YEAR, epsilon=1, wait=2, explain=True))
    assert "Watch from 2026-01-01 to 2026-12-31" in text
    assert "a step is read once, 2 days after its last day" in text
    assert "one row moves these numbers by at most 1 grid steps" in text
    assert data.remaining.epsilon == 1


def test_it_begins_today_and_goes_on_from_there():
    data = protect(ROWS)
    watch = data.watch(COUNT, until=date.today() + datetime.timedelta(9), epsilon=1)
    assert watch.schedule.since == date.today()
    assert watch.read().values == ()
    assert watch.read().total is None
    assert watch.read().total_margin is None
    again = data.watch(COUNT, until=date.today() + datetime.timedelta(9), epsilon=1)
    assert again.schedule == watch.schedule


def test_other_bounds_than_at_the_beginning_are_refused(tmp_path):
    source, policy = tmp_path / "visits.csv", tmp_path / "policy.toml"
    source.write_text("day,cost\n2026-01-01,5\n")
    text = (
        '[budget]\nepsilon = 10\n[tables.visits]\nsource = "visits.csv"\n'
        '[tables.visits.columns.day]\nkind = "date"\n'
        "[tables.visits.columns.cost]\nbounds = [0, {most}]\nstep = 1\n"
    )
    policy.write_text(text.format(most=10))
    question = "SELECT day, SUM(cost) FROM visits GROUP BY day"
    with dp.open(policy) as session:
        session.watch(question, **YEAR, epsilon=1).read("2026-01-01")
    policy.write_text(policy.read_text().replace("[0, 10]", "[0, 20]"))
    with dp.open(policy) as session, pytest.raises(InvalidParameter, match="another promise"):
        session.watch(question, **YEAR, epsilon=1)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits",
        "SELECT day, AVG(cost) FROM visits GROUP BY day",
        "SELECT day, COUNT(*), SUM(cost) FROM visits GROUP BY day",
        "SELECT day, COUNT(*) + 1 FROM visits GROUP BY day",
        "SELECT day, COUNT(*) FROM visits GROUP BY day HAVING COUNT(*) > 3",
        "SELECT day, COUNT(*) FROM visits GROUP BY day ORDER BY 1 LIMIT 3",
        "SELECT cost, COUNT(*) FROM visits GROUP BY cost",
        "SELECT day, patient, COUNT(*) FROM visits GROUP BY day, patient",
        "SELECT day, MEDIAN(cost) FROM visits GROUP BY day",
        "SELECT day, COUNT(*) FROM elsewhere GROUP BY day",
    ],
)
def test_refuses_other_questions(text):
    data = protect(ROWS)
    with pytest.raises(InvalidQuery, match="A watch counts rows"):
        data.watch(text, **YEAR, epsilon=1)
    assert data.ledger.entries == ()


def test_refuses_wrong_options():
    with pytest.raises(InvalidParameter, match="leave `per_person` out"):
        protect(ROWS).watch(COUNT, **YEAR, epsilon=1, per_person=2)
    with pytest.raises(InvalidParameter, match="Give `per_person`"):
        protect(ROWS, **PERSONS).watch(COUNT, **YEAR, epsilon=1)
    with pytest.raises(InvalidParameter, match="`through`"):
        protect(ROWS).watch(COUNT, **YEAR, epsilon=1).read("soon")


def test_parts_have_watches_of_their_own():
    data = protect(ROWS)
    first, second = data.partition("patient", [1, 2]).values()
    for part, values in ((first, (2, 1)), (second, (1, 0))):
        assert part.watch(COUNT, **YEAR, epsilon=NO_NOISE).read("2026-01-02").values == values
    first.watch(COUNT, **YEAR, epsilon=NO_NOISE, name="days")
    with pytest.raises(InvalidParameter, match="another part"):
        second.watch(COUNT, **YEAR, epsilon=NO_NOISE, name="days")
    assert len(data.ledger.entries) == 3
    assert data.ledger.verify()


@pytest.mark.parametrize("options", [{}, PERSONS])
def test_the_number_may_stand_before_the_days(options):
    limits = {"per_person": 3} if options else {}
    swapped = "SELECT COUNT(*) AS n, day FROM visits GROUP BY day"
    watched = protect(ROWS, **options).watch(swapped, **YEAR, epsilon=NO_NOISE, **limits)
    shown = watched.read("2026-01-02")
    assert (watched.output, watched.counts) == ("n", True)
    assert shown.values == (3, 1)
    assert shown.to_arrow().column_names == ["day", "n", "margin", "total", "total_margin"]


@pytest.mark.parametrize("name", ["Day", "Total", "margin", "total_margin", "protects"])
def test_names_that_another_column_has_are_refused(name):
    data = protect(ROWS)
    with pytest.raises(InvalidQuery, match="another name with AS"):
        data.watch(f"SELECT COUNT(*) AS {name} FROM visits GROUP BY day", **YEAR, epsilon=1)
    assert data.ledger.entries == ()


def test_tables_and_files_say_what_is_protected(tmp_path):
    shown = protect(ROWS).watch(COUNT, **YEAR, epsilon=1).read("2026-01-02")
    about = shown.to_arrow().schema.metadata
    assert about == {
        b"protects": b"one event at one time (it may come or go)",
        b"confidence": b"95 %",
    }
    shown.to_csv(tmp_path / "days.csv")
    head, *lines = (tmp_path / "days.csv").read_text().splitlines()
    assert head.endswith('"total_margin","protects"')
    assert len(lines) == 2
    assert all(line.endswith('"one event at one time (it may come or go)"') for line in lines)


def test_it_prints_as_a_table():
    data = protect(ROWS)
    text = str(data.watch(COUNT, **YEAR, epsilon=NO_NOISE).read("2026-01-31"))
    assert "(11 earlier steps not shown)" in text
    assert "protects one event at one time (it may come or go)" in text
