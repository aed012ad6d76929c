"""What a session does, wherever its tables and its ledger are."""

import pyarrow as pa
import pytest

import deniable as dp

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward"

# Questions that are refused: each must be refused with the same words everywhere.
REFUSED = {
    "a row": lambda s: s.sql("SELECT patient FROM visits", epsilon=1),
    "no price": lambda s: s.sql(COUNT),
    "two prices": lambda s: s.sql(COUNT, epsilon=1, margin=5),
    "a negative price": lambda s: s.sql(COUNT, epsilon=-1),
    "an unknown option": lambda s: s.sql(COUNT, epsilom=1),
    "an unknown table": lambda s: s.sql("SELECT COUNT(*) FROM nothing", epsilon=1),
    "an unknown column": lambda s: s.sql("SELECT SUM(nothing) FROM visits", epsilon=1),
    "no bounds": lambda s: s.sql("SELECT SUM(age) AS a FROM visits", epsilon=1),
    "no SQL": lambda s: s.sql("DROP TABLE visits", epsilon=1),
    "too much": lambda s: s.sql(COUNT, epsilon=1000),
    "too narrow a margin": lambda s: s.sql(COUNT, margin="0.0001"),
    "an empty id": lambda s: s.sql(COUNT, epsilon=0.5, question_id=""),
    "no plan": lambda s: s.release("SELECT 1"),
    "no list": lambda s: s.release_all(7),
    "an empty list": lambda s: s.release_all([]),
    "a list that costs too much": lambda s: s.release_all([s.plan(COUNT, epsilon=999)]),
    "a profile of nothing": lambda s: s.profile("nothing", epsilon=1),
    "limits of nothing": lambda s: s.limits("nothing", epsilon=1),
    "limits of rows": lambda s: s.limits("staff", epsilon=1),
    "limits by nothing": lambda s: s.limits("visits", by="nothing", epsilon=1),
    "a cap of nothing": lambda s: s.limits("visits", epsilon=1, max_rows=0),
    "a part of nothing": lambda s: s.partition("nothing", ["A"]),
}


class SessionContract:
    """`session` has 50 of epsilon, and 2000 visits of one patient each in wards A and B."""

    @pytest.fixture
    def session(self):
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def unspent(cls):
        """A session for all questions that are refused."""
        raise NotImplementedError

    def test_a_number_with_its_margin(self, session):
        answer = session.sql(COUNT, epsilon=0.5)
        assert abs(answer.value - 2000) < 200
        assert answer.margin == session.plan(COUNT, epsilon=0.5).outputs[0].margin
        assert not answer.repeated
        assert answer.certificate.statement["loss"] == {"epsilon": "1/2", "delta": "0"}
        assert dp.verify(answer.to_json(), key=session.ledger.public_key).signer_known
        assert str(session.remaining) == str(answer.remaining)
        assert str(answer.remaining).startswith("epsilon 49.5, delta ")
        assert "99 more questions like this one" in str(answer)

    def test_a_table_with_groups(self, session):
        answer = session.sql(BY_WARD, epsilon=5)
        assert answer.to_arrow().column_names == [
            "ward",
            "n",
            *("n_margin", "n_low", "n_high"),
            "cost",
            *("cost_margin", "cost_low", "cost_high"),
        ]
        assert answer.to_arrow()["ward"].to_pylist() == ["A", "B"]
        assert answer.to_pandas().shape == (2, 9)
        assert pa.table(answer) == answer.to_arrow()

    def test_the_same_question_is_free(self, session):
        first, again = (session.sql(COUNT, epsilon=0.5) for _ in range(2))
        assert (again.value, again.repeated) == (first.value, True)
        assert str(session.remaining).startswith("epsilon 49.5")
        assert not session.sql(COUNT, epsilon=0.5, fresh=True).repeated
        assert str(session.remaining).startswith("epsilon 49,"[:10])

    def test_a_question_id_has_one_outcome(self, session):
        first = session.sql(COUNT, epsilon=0.5, fresh=True, question_id="mine")
        again = session.sql(COUNT, epsilon=0.5, fresh=True, question_id="mine")
        assert again.value == first.value
        assert str(session.remaining).startswith("epsilon 49.5")
        with pytest.raises(dp.InvalidParameter, match="was used for another question"):
            session.sql(COUNT, epsilon=1, question_id="mine")

    def test_a_margin_instead_of_a_price(self, session):
        answer = session.sql(COUNT, margin=10)
        assert answer.margin <= 10
        assert session.sql(f"{COUNT} WITHIN 10").value == answer.value

    def test_a_built_question_is_the_same_question(self, session):
        built = session.table("visits").where("cost > 100").group_by("ward")
        ready = built.agg(n=dp.count(), cost=dp.mean("cost"), middle=dp.median("cost"))
        text = (
            "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost, MEDIAN(cost) AS middle FROM visits "
            "WHERE cost > 100 GROUP BY ward"
        )
        answer = ready.release(epsilon=2)
        assert session.sql(text, epsilon=2).to_arrow() == answer.to_arrow()

    def test_explaining_is_free(self, session):
        explained = str(session.explain(BY_WARD, epsilon=1))
        assert explained.startswith("Answer at epsilon 1")
        assert "checked: " in explained
        assert str(session.remaining).startswith("epsilon 50,")

    def test_bounds_are_found(self, session):
        answer = session.sql("SELECT AVG(age) AS age FROM visits", epsilon=4, bounds="find")
        assert 20 < answer.value < 70
        assert "Finding bounds took" in str(answer)
        assert str(session.remaining).startswith("epsilon 46,")
        again = session.sql("SELECT AVG(age) AS age FROM visits", epsilon=4, bounds="find")
        assert again.value == answer.value
        assert str(session.remaining).startswith("epsilon 46,")

    def test_sql_over_released_groups(self, session):
        inner = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
        text = f"SELECT ward, n, SUM(n) OVER () AS whole FROM ({inner})"
        answer = session.sql(text, epsilon=2)
        rows = answer.to_arrow().to_pylist()
        assert [row["whole"] for row in rows] == [sum(row["n"] for row in rows)] * 2
        assert dp.verify(answer.to_json(), key=session.ledger.public_key).signer_known
        assert str(session.remaining).startswith("epsilon 48,")
        again = session.sql(text, epsilon=2).to_arrow()  # its margins are simulated again
        assert again["whole"] == answer.to_arrow()["whole"]
        assert session.sql(inner, epsilon=2).to_arrow() == answer.inner["released_1"].to_arrow()
        assert str(session.remaining).startswith("epsilon 48,")

    def test_sql_over_two_private_parts(self, session):
        parts = [f"(SELECT COUNT(*) AS n FROM {table})" for table in ("visits", "staff")]
        text = f"SELECT a.n - b.n AS more FROM {parts[0]} a, {parts[1]} b"
        answer = session.sql(text, epsilon=2)
        assert abs(answer.value - 1950) < 100
        assert [part.plan.epsilon for part in answer.inner.values()] == [1, 1]
        assert session.sql(text, epsilon=2).value == answer.value
        assert str(session.remaining).startswith("epsilon 48,")

    def test_a_constant_that_is_released_first(self, session):
        text = "SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)"
        answer = session.sql(text, epsilon=4)
        assert abs(answer.value - 1000) < 200
        assert "was released first and used as" in str(answer)
        assert session.sql(text, epsilon=4).value == answer.value
        assert str(session.remaining).startswith("epsilon 46,")

    def test_a_first_look(self, session):
        profile = session.profile("visits", epsilon=10)
        assert abs(profile.rows.value - 2000) < 200
        assert {column.name for column in profile.columns} >= {"cost", "ward", "age"}
        assert str(session.remaining).startswith("epsilon 40")

    def test_what_limits_leave_out(self, session):
        limits = session.limits("visits", by="ward", epsilon=5, max_groups=2, max_rows=5)
        assert abs(limits.choice(groups=2, rows=3).left_out.value) < 0.1
        assert str(limits.remaining).startswith("epsilon 45,")
        again = session.limits("visits", by=["ward"], epsilon=5, max_groups=2, max_rows=5)
        assert again.repeated
        assert (
            again.choice(groups=1, rows=1).left_out == limits.choice(groups=1, rows=1).left_out
        )
        assert str(session.remaining).startswith("epsilon 45,")

    def test_many_at_once(self, session):
        plans = [
            session.plan(f"SELECT COUNT(*) AS n FROM visits WHERE cost > {i}", epsilon=0.5)
            for i in range(4)
        ]
        answers = session.release_all(plans)
        assert [abs(answer.value - 2000) < 300 for answer in answers] == [True] * 4
        assert str(session.remaining).startswith("epsilon 48,")

    def test_parts_cost_as_much_as_one(self, session):
        for part in session.partition("ward", ["A", "B"]).values():
            assert abs(part.sql(COUNT, epsilon=1).value - 1000) < 100
        assert str(session.remaining).startswith("epsilon 49,")

    def test_charges_are_listed(self, session):
        session.sql(COUNT, epsilon=0.5)
        (entry,) = session.ledger.entries
        assert (entry.state, entry.epsilon, entry.tables) == ("settled", 0.5, ("visits",))
        head = session.ledger.head
        assert head.number == 2

    def test_a_rehearsal_needs_nobody(self, session):
        with dp.rehearse(session.policy) as rehearsal:
            assert rehearsal.sql(BY_WARD, epsilon=1).rehearsal

    @pytest.mark.parametrize("what", REFUSED)
    def test_refusals_are_the_same_everywhere(self, unspent, what, words_of_memory):
        with pytest.raises((dp.DeniableError, TypeError)) as refusal:
            REFUSED[what](unspent)
        assert (type(refusal.value).__name__, str(refusal.value)) == words_of_memory[what]
        assert str(unspent.remaining).startswith("epsilon 50,")
