import datetime

from deniable.ledger import MemoryLedger
from deniable.ledger.accounts import Accounts
from deniable.ledger.remaining import describe_how_many, least_remaining, limiting_accounts
from deniable.ledger.terms import Terms
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget
from tests.ledger.contract import plan

TODAY = datetime.date(2026, 1, 1)


def ledger(**declared):
    declared = {"epsilon": 10} | declared
    tables = [Table("data", budget=Budget(5)), Table("staff", unit="employee")]
    return MemoryLedger(terms=Terms.from_policy(Policy(tables, **declared)))


def test_the_account_with_the_least_counts():
    books = ledger(analysts={"ann": Budget(3), "bob": Budget(8)})
    assert books.how_many(plan(0.5), analyst="ann") == 6
    assert books.how_many(plan(0.5), analyst="bob") == 10
    assert books.how_many(plan(0.5, table="staff"), analyst="bob") == 16
    assert books.remaining_for("ann").epsilon == 3
    assert books.remaining_for("bob", tables=["data"]).epsilon == 5
    assert books.remaining_for(tables=["data"], analyst="ann").epsilon == 3
    assert books.remaining.epsilon == 10
    assert describe_how_many(books.how_many(plan("0.1"), analyst="bob")) == (
        "50 more questions like this one"
    )


def test_what_costs_nothing_never_ends():
    towns = Policy([Table("data", public=True)], epsilon=1)
    assert MemoryLedger(terms=Terms.from_policy(towns)).how_many(plan(1)) is None


def test_a_used_up_delta_ends_it_too():
    books = MemoryLedger(10, 1e-6)
    assert books.how_many(plan(1, 4e-7)) == 2
    assert books.how_many(plan(1)) == 10


def test_gauges_of_all_that_was_declared_or_charged():
    books = ledger(analysts={"*": Budget(3)}, units={"employee": Budget(1)})
    books.reserve(plan(1), analyst="eve")
    gauges = {
        usage.account: (usage.spent, usage.limit, usage.open) for usage in books.filter_usages()
    }
    assert gauges == {
        "unit:*": (1, 10, True),
        "unit:employee": (0, 1, True),
        "table:data": (1, 5, True),
        "analyst:eve": (1, 3, True),
    }


def test_an_unknown_table_is_charged_to_everybody():
    terms = Terms.from_budget(Budget(1))
    assert limiting_accounts(terms, "ann", None) == ("unit:*",)
    assert limiting_accounts(terms, "ann", ("data",)) == ("unit:*",)
    remaining = least_remaining(Accounts(), terms, ("unit:*",), TODAY)
    assert remaining.epsilon == 1
