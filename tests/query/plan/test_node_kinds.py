"""Kinds of released values."""

from fractions import Fraction

import pytest

from deniable.query.plan.node_kinds import node_kind
from deniable.query.plan.plan import Constant, Feature, KeyColumn, Number, Operation

KEYS = {0: "text", 1: "moment", 2: "boolean"}
N, TEXT = Feature("n", 0), KeyColumn(0)


@pytest.mark.parametrize(
    ("node", "kind"),
    [
        (N, "number"),
        (Number(Fraction(1)), "number"),
        (TEXT, "text"),
        (KeyColumn(1), "date"),
        (KeyColumn(2), "boolean"),
        (Constant("a"), "text"),
        (Constant(True), "boolean"),
        (Constant(None), None),
        (Operation("length", (TEXT,)), "number"),
        (Operation("case", (Operation(">", (N, N)), Constant(None), TEXT)), "text"),
        (Operation("coalesce", (Constant(None), N)), "number"),
        (Operation("cast date", (TEXT,)), "date"),
    ],
)
def test_kinds(node, kind):
    assert node_kind(node, lambda key: KEYS[key.place]) == kind
