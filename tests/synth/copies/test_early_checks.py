"""Every plan is checked before the charge: a refusal costs nothing."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import BudgetExhausted, PlanRefused
from deniable.kernel import verdict
from deniable.release.certificate import kernel_check

FRAME = pa.table(
    {
        "day": pa.array(range(300), pa.date32()),
        "age": list(range(100)) * 3,
        "word": ["often"] * 300,
        "ok": [True, False, None] * 100,
    }
)
ASKED = {"dates": {"day": ("1970-01-01", "1970-12-31")}, "keys_epsilon": 1}


def session(**more):
    options = {"bounds": {"age": (0, 100)}, "epsilon": 9, "delta": 1e-4, **more}
    return dp.protect(FRAME, name="t", **options)


def refuses(plan):
    """Which plans of a copy a broken kernel refuses, one kind after the other."""
    far = plan.distances
    return {
        "cuts": bool(plan.choices),
        "keys": plan.thresholding is not None,
        "columns": len(plan.keys) == 1 and plan.thresholding is None,
        "pairs": len(plan.keys) == 2,
        "scores": far and isinstance(far.mechanism, dp.Gaussian),
        "mst": far and isinstance(far.mechanism, dp.Exponential),
        "aim": far and isinstance(far.mechanism, dp.Exponential),
    }


@pytest.mark.parametrize("kind", ["cuts", "keys", "columns", "pairs", "scores", "mst", "aim"])
def test_what_the_kernel_refuses_is_refused_before_the_charge(monkeypatch, kind):
    def check(plan, facts, **options):
        if refuses(plan)[kind]:
            raise PlanRefused("no")
        return verdict.check_plan(plan, facts, **options)

    monkeypatch.setattr(kernel_check, "check_plan", check)
    with session() as opened:
        with pytest.raises(PlanRefused):
            opened.copy(epsilon=1, **ASKED, method=kind if kind in ("mst", "aim") else "auto")
        assert len(opened.ledger.entries) == 0


def test_keys_are_not_charged_if_the_run_does_not_fit():
    with session(epsilon=2) as opened:
        with pytest.raises(BudgetExhausted, match="together"):
            opened.copy(epsilon=1.5, **ASKED)
        assert len(opened.ledger.entries) == 0


def test_few_checks(monkeypatch):
    """All scores are one statement, so that checks grow with columns, and not with pairs."""
    calls = []

    def check(plan, facts, **options):
        calls.append(plan)
        return verdict.check_plan(plan, facts, **options)

    monkeypatch.setattr(kernel_check, "check_plan", check)
    names = [f"c{i}" for i in range(12)]
    frame = pa.table({name: [0, 1] * 30 for name in names})
    with dp.protect(frame, keys=dict.fromkeys(names, (0, 1)), epsilon=9, delta=1e-4) as opened:
        opened.copy(epsilon=1, method="mst", missing=False)
    statements = sum(len(plan.statements) for plan in calls)
    assert statements == len(calls) <= 12 + 6 + 2 + 11 + 2
