"""Checks the sensitivities of a plan against the contribution that it states for one row."""

from deniable.errors import InvalidCertificate
from deniable.exact.foreign_text import quoted
from deniable.mechanisms import Gaussian
from deniable.query.plan.plan import Plan


def check_sensitivities(plan: Plan) -> str:
    """No sensitivity may be below what one unit can change, by the plan's own bounds."""
    for block in plan.blocks:
        if block.reach is None:
            raise InvalidCertificate(
                f"The plan does not state what one row adds to {quoted(block.about)}, so its "
                "sensitivity cannot be checked."
            )
        l1, square = block.reach.sensitivities(
            groups=plan.max_groups_per_unit,
            rows=plan.max_rows_per_unit_per_group,
            neighbors=plan.neighbors,
            keyed=bool(plan.keys),
            most_rows=plan.max_rows_per_unit,
        )
        gaussian = isinstance(block.mechanism, Gaussian)
        has = block.mechanism.sensitivity ** (2 if gaussian else 1)
        needs = l1 if not gaussian else l1**2 if plan.other else square
        if block.reach.size != len(block.features) or has < needs:
            raise mismatch(f"the sensitivity of {quoted(block.about)}", str(has), str(needs))
    rule = plan.thresholding
    if rule is not None and (
        rule.groups < plan.max_groups_per_unit or rule.neighbors != plan.neighbors
    ):
        raise mismatch("the groups of one unit", rule.groups, plan.max_groups_per_unit)
    for choice in plan.choices:
        if choice.changes < (needs := plan.least_changes(choice)):
            raise mismatch(
                f"the sensitivity of {quoted(choice.about)}", str(choice.changes), str(needs)
            )
    far = plan.distances
    if far is not None:
        most = far.reach(plan.max_rows_per_unit_per_group, plan.neighbors)
        if (has := far.mechanism.sensitivity**2) < most:
            raise mismatch(f"the sensitivity of {quoted(far.about)}", str(has), str(most))
    return "every sensitivity covers all that one privacy unit can change"


def mismatch(place: str, stated: object, computed: object) -> InvalidCertificate:
    """The error that a certificate states something else than follows from its plan."""

    def short(value: object) -> str:
        text = repr(value)
        return text if len(text) < 60 else f"{text[:57]}..."

    return InvalidCertificate(
        f"The certificate is wrong: it states {short(stated)} for {place or 'the statement'}, "
        f"but its own plan gives {short(computed)}."
    )
