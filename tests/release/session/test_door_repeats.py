"""The same question again: no cost to the table, no new noise; and parts, analysts, batches."""

import datetime
import os
import shutil
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dp
from deniable.errors import BudgetExhausted, InvalidParameter
from deniable.ledger import Head, MemoryLedger
from deniable.ledger import questions as asking
from deniable.ledger.floor_mark import FloorMark
from deniable.ledger.terms import Terms
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget, Schedule
from deniable.policy.ledger_id import write_ledger_id
from deniable.policy.ledger_settings import locate_ledger
from deniable.release.answer.record import fingerprint
from deniable.release.public_session import Session
from deniable.release.session import release_records

COUNT = "SELECT COUNT(*) AS n FROM visits"
FRAME = pa.table(
    {
        "patient": [i // 2 for i in range(1200)],
        "ward": ["ABC"[i // 2 % 3] for i in range(1200)],
        "age": [i % 90 for i in range(1200)],
    }
)


FILE = Path(tempfile.gettempdir()) / f"deniable-{os.getpid()}-visits.parquet"


@pytest.fixture(scope="module", autouse=True)
def file():
    """The same rows in a file: a source with an address."""
    pa.parquet.write_table(FRAME, FILE)
    yield
    FILE.unlink()


class Counting:
    """An engine that counts how often it is asked."""

    name = "counting"

    def __init__(self, engine):
        self.engine, self.runs, self.written, self.broken = engine, 0, 0, False

    def schema(self, table):
        return self.engine.schema(table)

    def prepare(self, plan):
        self.written += 1
        return self.engine.prepare(plan)

    def run(self, written):
        if self.broken:
            raise ArithmeticError
        self.runs += 1
        return self.engine.run(written)

    def close(self):
        self.engine.close()


def opened(
    ledger=None, version="", analyst=None, neighbors="add-remove", bounds=None, **policy
):
    from deniable.engines.duckdb.engine import DuckDB

    table = Table.declare(
        "visits",
        str(FILE),
        unit="patient",
        max_rows_per_unit_per_group=2,
        neighbors=neighbors,
        bounds=bounds or {"age": (0, 90)},
        version=version,
    )
    known = Policy([table], **({"epsilon": 4} | policy))
    engine = Counting(DuckDB.open({"visits": str(FILE)}))
    session = Session(
        known, engine, ledger or MemoryLedger(terms=Terms.from_policy(known)), analyst=analyst
    )
    return session, engine


def test_the_same_question_again_is_free_and_the_same():
    session, engine = opened()
    first = session.sql(COUNT, epsilon=1)
    again = session.sql("select count( * ) as n from VISITS", epsilon=1)
    built = session.table("visits").agg(n=dp.count()).release(epsilon=1)
    assert first.value == again.value == built.value
    assert first.certificate.to_dict() == again.certificate.to_dict()
    assert (first.repeated, again.repeated, built.repeated) == (False, True, True)
    assert "this is the same answer" in str(again)
    assert engine.runs == 1
    assert session.remaining.epsilon == 3
    assert dp.verify(again.to_dict())


def test_a_fresh_answer_pays_again():
    session, engine = opened()
    values = {session.sql(COUNT, epsilon=0.125, fresh=True).value for _ in range(30)}
    assert len(values) > 5
    assert engine.runs == 30
    assert session.remaining.epsilon == 4 - Fraction(30, 8)
    built = session.table("visits").agg(n=dp.count())
    built.release(epsilon=0.125, fresh=True)
    assert engine.runs == 31


@pytest.mark.parametrize(
    "other",
    [
        {"epsilon": 0.5},
        {"epsilon": 1, "confidence": 0.9},
        {"epsilon": 1, "nonnegative": True},
    ],
    ids=str,
)
def test_another_question_is_another_question(other):
    session, engine = opened()
    session.sql(COUNT, epsilon=1)
    assert not session.sql(COUNT, **other).repeated
    assert engine.runs == 2


def test_a_new_version_of_the_data_is_asked_anew():
    session, _ = opened(version="march")
    session.sql(COUNT, epsilon=1)
    april, engine = opened(session.ledger, version="april")
    assert not april.sql(COUNT, epsilon=1).repeated
    march, _ = opened(session.ledger, version="march")
    assert march.sql(COUNT, epsilon=1).repeated
    assert engine.runs == 1
    assert session.remaining.epsilon == 2


def test_an_analyst_who_had_not_received_it_is_charged_in_their_own_budget():
    analysts = {"anna": Budget(2), "bob": Budget(Fraction(3, 2))}
    anna, engine = opened(analyst="anna", analysts=analysts)
    first = anna.sql(COUNT, epsilon=1)
    bob, others = opened(anna.ledger, analyst="bob", analysts=analysts)
    same = bob.sql(COUNT, epsilon=1)
    assert same.repeated
    assert same.value == first.value
    assert (engine.runs, others.runs) == (1, 0)
    assert anna.ledger.remaining_for().epsilon == 3  # the table's
    assert (anna.remaining.epsilon, bob.remaining.epsilon) == (1, Fraction(1, 2))
    bob.sql(COUNT, epsilon=1)  # received by now
    assert bob.remaining.epsilon == Fraction(1, 2)
    with pytest.raises(BudgetExhausted, match="analyst bob"):
        bob.sql(COUNT, epsilon=0.75)
    with pytest.raises(InvalidParameter, match="who asks"):
        opened(anna.ledger, analysts=analysts)[0].sql(COUNT, epsilon=1)


def test_a_refused_analyst_does_not_see_what_others_paid_for():
    analysts = {"anna": Budget(2), "bob": Budget(Fraction(1, 2))}
    anna, _ = opened(analyst="anna", analysts=analysts)
    anna.sql(COUNT, epsilon=1)
    bob, engine = opened(anna.ledger, analyst="bob", analysts=analysts)
    with pytest.raises(BudgetExhausted):
        bob.sql(COUNT, epsilon=1)
    assert engine.runs == 0


def test_six_threads_with_one_new_question_get_one_answer_and_pay_once():
    session, engine = opened()
    ready = threading.Barrier(6)

    def ask(_):
        ready.wait()
        return session.sql(COUNT, epsilon=1)

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(ask, range(6)))
    assert len({answer.value for answer in answers}) == 1
    assert sorted(answer.repeated for answer in answers) == [False] + [True] * 5
    assert engine.runs == 1
    assert session.remaining.epsilon == 3


def test_a_question_id_gets_its_own_outcome_again():
    session, engine = opened()
    options = {"epsilon": 0.5, "fresh": True}
    first = session.sql(COUNT, **options, question_id="monday 1")
    second = (
        session.table("visits").agg(n=dp.count()).release(**options, question_id="monday 2")
    )
    assert session.sql(COUNT, **options, question_id="monday 1").value == first.value
    assert session.sql(COUNT, **options, question_id="monday 2").value == second.value
    engine.broken = True
    for _ in range(2):
        with pytest.raises(dp.EngineFailed) as failure:
            session.sql(COUNT, **options, question_id="monday 3")
    engine.broken = False
    with pytest.raises(dp.EngineFailed, match=failure.value.reference):
        session.sql(COUNT, **options, question_id="monday 3")
    assert engine.runs == 2
    assert session.remaining.epsilon == 2.5


def test_it_survives_the_process(tmp_path):
    pa.parquet.write_table(FRAME, tmp_path / "visits.parquet")
    path = tmp_path / "deniable.toml"
    path.write_text('[budget]\nepsilon = 4\n[tables.visits]\nsource = "visits.parquet"\n')
    with dp.open(str(path)) as session:
        first = session.sql(COUNT, epsilon=1)
    with dp.open(str(path)) as two:
        again = two.sql(COUNT, epsilon=1)
        assert again.repeated
        assert again.value == first.value
        assert again.certificate.to_dict() == first.certificate.to_dict()
        assert two.remaining.epsilon == 3
        head = Head(**first.certificate.statement["ledger"]["head"])
        assert two.ledger.verify([head]).earlier == 1


@pytest.mark.parametrize("what", ["answer", "statement"])
def test_a_kept_answer_that_was_changed_is_not_handed_out(what):
    session, _ = opened()
    first = session.sql(COUNT, epsilon=1)
    bigger = first.answer.table.set_column(0, "n", pa.array([first.value + 1]))
    certificate = first.certificate
    if what == "statement":
        changed = dict(certificate.statement) | {"answer_hash": fingerprint(bigger)}
        certificate = replace(certificate, statement=changed)
    forged = release_records.write_receipt(replace(first.answer, table=bigger), certificate)
    kept = session.ledger.recall(**session._records.facts(first.plan))
    session._ledger.ask = lambda *_, **__: nullcontext(replace(kept, record=forged))
    with pytest.raises(dp.LedgerBroken, match="kept answer"):
        session.sql(COUNT, epsilon=1)


def test_a_failure_is_not_an_answer():
    session, engine = opened()
    engine.broken = True
    with pytest.raises(dp.EngineFailed):
        session.sql(COUNT, epsilon=1)
    engine.broken = False
    assert not session.sql(COUNT, epsilon=1).repeated
    assert engine.runs == 1
    assert session.remaining.epsilon == 2


def test_answers_that_are_too_large_are_not_kept(monkeypatch):
    monkeypatch.setattr(release_records, "MAX_KEPT_BYTES", 1)
    session, engine = opened()
    first = session.sql(COUNT, epsilon=1)
    assert not first.kept
    assert "asking again is charged again" in str(first)
    assert not session.sql(COUNT, epsilon=1).repeated
    assert engine.runs == 2
    assert session.remaining.epsilon == 2


def test_what_is_kept_is_not_said_to_be_too_large():
    session, _ = opened()
    for answer in (session.sql(COUNT, epsilon=1), session.sql(COUNT, epsilon=1)):
        assert answer.kept
        assert "Too large" not in str(answer)
    assert release_records.MAX_KEPT_BYTES == 4 << 20  # as the sentence says


def test_parts_together_cost_the_dearest_one():
    session, _ = opened()
    wards = session.partition("ward", ["A", "B", "C"])
    assert list(wards) == ["A", "B", "C"]
    for ward, epsilon in zip(wards.values(), (0.5, 1, 0.25), strict=True):
        release = ward.sql(COUNT, epsilon=epsilon)
        assert abs(release.value - 400) < 60 / epsilon
        assert dp.verify(release.to_dict())
    assert session.remaining.epsilon == 3
    wards["A"].sql(COUNT, epsilon=0.25)  # 0.75 in A: still below B
    assert session.remaining.epsilon == 3
    session.sql(COUNT, epsilon=1)
    assert session.remaining.epsilon == 2


def test_parts_cost_the_worst_pair_where_a_unit_may_move():
    session, _ = opened(neighbors="replace")
    wards = session.partition("ward", ["A", "B", "C"])
    for ward, epsilon in zip(wards.values(), (0.5, 1, 0.25), strict=True):
        ward.sql(COUNT, epsilon=epsilon)
    assert session.remaining.epsilon == 2.5


def test_parts_of_parts():
    session, _ = opened()
    part = session.partition("ward", ["A"])["A"]
    ages = part.partition("age", [10, 20])
    for group in ages.values():
        group.sql(COUNT, epsilon=1)
    assert session.remaining.epsilon == 3
    assert (
        repr(ages[10]) == "<session about visits (ward 'A', age 10): epsilon 3, delta 0 left>"
    )
    with pytest.raises(InvalidParameter, match="already"):
        part.partition("ward", ["B"])


def test_the_same_part_again_is_the_same_part():
    session, _ = opened()
    for keys in (["A", "B"], ["B", "C"]):
        for ward in session.partition("ward", keys).values():
            ward.sql(COUNT, epsilon=1, fresh=True)
    assert session.remaining.epsilon == 2  # B was asked twice


def test_the_same_part_in_another_spelling_is_the_same_part():
    session, _ = opened()
    for key in (10, 10.0):
        session.partition("age", [key])[key].sql(COUNT, epsilon=1, fresh=True)
    assert session.remaining.epsilon == 2


def test_a_plan_for_all_rows_is_no_plan_for_a_part():
    session, engine = opened()
    part = session.partition("ward", ["A"])["A"]
    whole, narrow = session.plan(COUNT, epsilon=1), part.plan(COUNT, epsilon=1)
    for asker, plan in ((part, whole), (session, narrow)):
        with pytest.raises(InvalidParameter, match="another policy"):
            asker.release(plan)
    other = session.partition("ward", ["B"])["B"]
    with pytest.raises(InvalidParameter):
        other.release(narrow)
    assert engine.runs == 0
    assert session.remaining.epsilon == 4


def test_who_may_have_moved_pays_in_both_parts():
    """With new data, or other bounds, a person may be in another part than before."""
    ledger = MemoryLedger(epsilon=4)
    for version, ward in (("march", "A"), ("april", "B"), ("april", "C")):
        session, _ = opened(ledger, version=version)
        session.partition("ward", [ward])[ward].sql(COUNT, epsilon=1)
    assert session.remaining.epsilon == 2  # one in March, and the dearer one in April
    for highest, key in ((50, 50), (90, 60)):  # at 50, anyone older is in the first part
        session, _ = opened(ledger, bounds={"age": (0, highest)})
        session.partition("age", [key])[key].sql(COUNT, epsilon=0.5)
    assert session.remaining.epsilon == 1


def test_tables_and_columns_whose_names_run_together_are_two_partitions():
    tables = [Table.declare("a", keys={"b.c": ["x"]}), Table.declare("a.b", keys={"c": ["x"]})]
    from deniable.query.statements.partition import partition_name

    assert partition_name(tables[0], "b.c") != partition_name(tables[1], "c")


def test_a_plan_is_about_a_part_by_what_it_reads_not_by_its_word():
    session, engine = opened()
    part = session.partition("ward", ["A"])["A"]
    claimed = replace(session.plan(COUNT, epsilon=1), part=(("ward", "A"),))
    others, _ = opened(bounds={"age": (0, 50)})
    elsewhere = others.partition("age", [50])[50].plan(COUNT, epsilon=1)
    for asker, plan in ((part, claimed), (session.partition("age", [50])[50], elsewhere)):
        with pytest.raises(InvalidParameter, match="another policy"):
            asker.release(plan)
    assert engine.runs == 0
    assert session.remaining.epsilon == 4


def test_an_answer_to_another_question_is_not_handed_out(monkeypatch):
    """Both were signed; but one was filed under the other, by someone with access."""
    session, _ = opened()
    other = session.sql(f"{COUNT} WHERE age > 50", epsilon=1)
    session.sql(COUNT, epsilon=1)
    record = release_records.write_receipt(other.answer, other.certificate)
    true = asking.recalled_answer
    monkeypatch.setattr(
        asking, "recalled_answer", lambda body: replace(true(body), record=record)
    )
    with pytest.raises(dp.LedgerBroken, match="differs from the answer"):
        session.sql(COUNT, epsilon=1)


def test_a_margin_may_be_asked_of_a_part_while_others_are_used_up():
    session, _ = opened()
    wards = session.partition("ward", ["A", "B"])
    wards["A"].sql(COUNT, epsilon=4)
    assert wards["B"].sql(COUNT, margin=30).margin <= 30
    with pytest.raises(BudgetExhausted):
        wards["A"].sql(COUNT, margin=30)


@pytest.mark.parametrize(("neighbors", "left"), [("add-remove", 4), ("replace", 1)])
def test_a_part_says_what_is_left_to_it(neighbors, left):
    """Beside a part that is dearer there is more left than to the whole."""
    session, _ = opened(neighbors=neighbors)
    wards = session.partition("ward", ["A", "B"])
    wards["A"].sql(COUNT, epsilon=3)
    assert [asker.remaining.epsilon for asker in (session, *wards.values())] == [1, 1, left]
    assert f"epsilon {left}, delta 0 left" in repr(wards["B"])
    release = wards["B"].sql(COUNT, epsilon=Fraction(left, 4))
    assert release.remaining == wards["B"].remaining
    assert release.remaining.epsilon == Fraction(3 * left, 4)
    assert release.more == "3 more questions like this one"
    with pytest.raises(BudgetExhausted, match=f"{wards['B'].remaining} are left"):
        wards["B"].sql(COUNT, epsilon=3.5)
    inner = wards["B"].partition("age", [10])[10]
    assert inner.remaining == wards["B"].remaining


def test_a_part_finds_bounds_while_others_are_used_up():
    frame = pa.table({"ward": ["A", "B"] * 4000, "cost": [3.0, 900.0] * 4000})
    with dp.protect(frame, epsilon=4) as whole:
        wards = whole.partition("ward", ["A", "B"])
        wards["A"].sql("SELECT COUNT(*) AS n FROM data", epsilon=4)
        release = wards["B"].sql("SELECT SUM(cost) AS s FROM data", epsilon=3, bounds="find")
        assert "512 to 1024" in str(release)
        assert wards["B"].remaining.epsilon == 1
        with pytest.raises(BudgetExhausted, match="costs epsilon 2, delta 0, and epsilon 1"):
            wards["B"].sql("SELECT SUM(cost) AS s FROM data", epsilon=2, bounds="find")


def test_a_part_does_not_close_what_others_use():
    session, _ = opened()
    with session.partition("ward", ["A"])["A"] as part:
        part.sql(COUNT, epsilon=1)
    assert session.sql(COUNT, epsilon=1)


@pytest.mark.parametrize(
    ("column", "table"), [("nothing", None), ("ward", "elsewhere"), ("ward", "codes")]
)
def test_what_cannot_be_divided(column, table):
    frames = {"visits": FRAME, "codes": pa.table({"ward": ["A"]})}
    tables = [
        Table.declare("visits", FRAME, unit="patient"),
        Table.declare("codes", frames["codes"], public=True),
    ]
    from deniable.engines.duckdb.engine import DuckDB

    known = Policy(tables, epsilon=1)
    session = Session(known, DuckDB.open(frames), MemoryLedger(terms=Terms.from_policy(known)))
    with pytest.raises(InvalidParameter):
        session.partition(column, ["A"], table=table)


def test_the_cap_is_what_the_schedule_reaches():
    grows = Schedule(start=datetime.date(2026, 1, 1), every=30, epsilon=1, times=3)
    session, _ = opened(schedule=grows)
    statement = session.sql(COUNT, epsilon=1).certificate.statement
    assert statement["cap"] == {"epsilon": "7", "delta": "0", "by": "2026-04-01"}


def test_what_is_left_in_each_filter_and_in_words():
    session, _ = opened(delta=1e-6, filters=("pure", "zcdp", "gdp"))
    release = session.sql(COUNT, epsilon=0.01)
    assert [room.filter for room in session.remaining.others] == ["zcdp", "gdp"]
    assert "; or rho " in str(session.remaining)
    assert "more questions like this one" in str(release)
    more = int(release.more.split()[1].replace(",", ""))
    assert more > 400  # the pure sum alone would give 399


def questions(session, count, epsilon):
    return [
        session.plan(f"SELECT COUNT(*) AS n FROM visits WHERE age > {i}", epsilon=epsilon)
        for i in range(count)
    ]


def test_plans_fixed_in_advance_cost_less_together():
    session, engine = opened(delta=1e-6)
    releases = session.release_all(questions(session, 60, 0.05), delta=1e-6)
    assert engine.runs == len(releases) == 60
    assert 4 - session.remaining.epsilon < 60 * 0.05 * 0.8
    assert all(dp.verify(release.to_dict()) for release in releases[:3])
    assert session.ledger.verify().entries > 60
    assert session.release(releases[7].plan).repeated


def test_without_a_delta_they_cost_their_sum_all_or_none():
    session, engine = opened()
    session.release_all(questions(session, 3, 1))
    assert session.remaining.epsilon == 1
    with pytest.raises(BudgetExhausted):
        session.release_all(questions(session, 2, 0.75))
    assert session.remaining.epsilon == 1
    assert engine.runs == 3


def test_a_failure_among_several_leaves_nothing_open():
    session, engine = opened()
    real = engine.run

    def second_fails(plan):
        if engine.runs == 1:
            raise RuntimeError
        return real(plan)

    engine.run = second_fails
    with pytest.raises(dp.EngineFailed):
        session.release_all(questions(session, 4, 0.5))
    states = [entry.state for entry in session.ledger.entries]
    assert states == ["settled", "failed", "failed", "failed"]
    assert session.remaining.epsilon == 2


def people(folder, count, source="visits.parquet", store=""):
    """A policy about a table with this many people."""
    folder.mkdir(exist_ok=True)
    pa.parquet.write_table(pa.table({"x": range(count)}), folder / source)
    ledger = f'[ledger]\nstore = "{store}"\n' if store else ""
    path = folder / "deniable.toml"
    path.write_text(f'[budget]\nepsilon = 4\n{ledger}[tables.visits]\nsource = "{source}"\n')
    floor = FloorMark(str(locate_ledger(store or None, None, path)["ledger_key"])).read()
    if floor is not None:  # the same ledger as before
        write_ledger_id(path, floor.id)
    return str(path)


def ask(path):
    with dp.open(path) as session:
        return session.sql(COUNT, epsilon=1)


def test_an_edited_source_does_not_get_the_old_answer(tmp_path):
    old = ask(people(tmp_path, 289))
    new = ask(people(tmp_path, 100_000, source="all.parquet"))
    assert (old.repeated, new.repeated) == (False, False)
    assert abs(old.value - 289) < 60
    assert abs(new.value - 100_000) < 60
    assert new.remaining.epsilon == 2
    again = ask(people(tmp_path, 289))
    assert (again.repeated, again.value) == (True, old.value)


def test_two_policies_with_one_ledger_and_one_table_name_are_about_two_tables(tmp_path):
    ledger = str(tmp_path / "ledger.sqlite")
    old = ask(people(tmp_path / "small", 289, store=ledger))
    new = ask(people(tmp_path / "large", 100_000, store=ledger))
    assert not new.repeated
    assert abs(new.value - 100_000) < 60
    assert (old.remaining.epsilon, new.remaining.epsilon) == (3, 2)


def test_a_link_to_another_file_is_another_source(tmp_path):
    for name, count in (("march", 289), ("april", 100_000)):
        path = people(tmp_path, count, source=f"{name}.parquet")
    Path(path).write_text(Path(path).read_text().replace("april", "now"))
    link = tmp_path / "now.parquet"
    for name, count in (("march", 289), ("april", 100_000)):
        link.unlink(missing_ok=True)
        link.symlink_to(tmp_path / f"{name}.parquet")
        assert abs(ask(path).value - count) < 60


def test_a_frame_is_not_taken_for_another_with_its_name():
    """A frame has no address: its answers are repeated only for the table that was declared."""
    from deniable.engines.duckdb.engine import DuckDB

    ledger, releases = MemoryLedger(epsilon=4), []
    for count in (289, 100_000):
        frame = pa.table({"x": range(count)})
        known = Policy([Table.declare("visits", frame, version="1")], epsilon=4)
        with_it = [Session(known, DuckDB.open({"visits": frame}), ledger) for _ in range(2)]
        releases += [session.sql(COUNT, epsilon=1) for session in with_it]
    assert [release.repeated for release in releases] == [False, True, False, True]
    assert abs(releases[2].value - 100_000) < 60


def test_people_may_be_in_other_parts_of_another_source(tmp_path):
    """So the parts of two sources are two partitions, and their costs add up."""
    ledger = str(tmp_path / "ledger.sqlite")
    for name, part in (("one", 1), ("two", 2)):
        with dp.open(people(tmp_path / name, 500, store=ledger)) as session:
            session.partition("x", [part])[part].sql(COUNT, epsilon=1)
            left = session.remaining.epsilon
    assert left == 2


def told_about(folder):
    """What ledger, certificate and log say about the data, without noise, keys and times."""
    with dp.open(str(folder / "deniable.toml")) as session:
        answer = session.sql(COUNT, epsilon=1)
        rows, anchor = session.ledger._journal.read_all()
        bodies = [row.read() for row in rows]
    for body in bodies:
        for name in ("record", "time", "begun", "key", "holder"):
            body.pop(name, None)
    statement = dict(answer.certificate.statement)
    for name in ("answer_hash", "key", "ledger", "warnings"):
        del statement[name]
    log = folder / "deniable.ledger.log"
    files = sorted(path.name for path in folder.iterdir())
    return bodies, statement, anchor.state, files, log.exists() and log.read_text()


def test_nothing_told_depends_on_content_size_or_time_of_the_data(tmp_path, monkeypatch):
    """With a digest of the rows, anyone who knows all but one could test the last."""
    monkeypatch.setattr("deniable.ledger.beginning.new_ledger_id", lambda: "0" * 32)
    folder, told = tmp_path / "hospital", []
    for count in (289, 290, 100_000):
        people(folder, count)
        told.append(told_about(folder))
        shutil.rmtree(folder)
    assert told[0] == told[1] == told[2]
