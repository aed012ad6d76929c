"""What a certificate says about a plan: every number in it can be found again from the plan.

The statement is a reading of the plan for people and for programs that know nothing of ours.
`verification` makes it anew from the plan and compares, so a wrong number cannot be signed
into it unnoticed.
"""

import math
from fractions import Fraction
from typing import Any

from deniable.mechanisms import Gaussian
from deniable.mechanisms.noise.additive import AdditiveMechanism, least_margin
from deniable.privacy import Loss
from deniable.query.margins.linear_forms import LinearForm, form
from deniable.query.margins.margins import laws_of
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.query.plan import canonical
from deniable.query.plan.plan import (
    Block,
    Choice,
    Feature,
    KeyColumn,
    Node,
    Operation,
    Output,
    Plan,
)


def write_statement(plan: Plan) -> dict[str, Any]:
    """Whom a plan protects, what it costs, by which noise, and how wide the margins are.

    >>> from fractions import Fraction
    >>> from deniable.mechanisms import Laplace
    >>> _block(Block(("n",), "rows", Laplace(epsilon=0.5)), Fraction(19, 20))["scale"]
    '2'
    """
    return {
        "table": plan.table,
        "beside": list(plan.beside),
        "public": list(plan.public),
        "unit": {
            "column": plan.unit,
            "max_groups_per_unit": plan.max_groups_per_unit,
            "max_rows_per_unit_per_group": plan.max_rows_per_unit_per_group,
        },
        "neighbors": plan.neighbors,
        "loss": {"epsilon": str(plan.epsilon), "delta": str(plan.delta)},
        "mechanisms": [
            *(_block(one, plan.confidence) for one in plan.blocks),
            *map(_choice, plan.choices),
            *_threshold(plan),
        ],
        "groups": [
            {"key": one.name, "declared": None if one.values is None else len(one.values)}
            for one in plan.keys
        ],
        "bounds": [
            {"output": one.name, "low": _text(one.low), "high": _text(one.high)}
            for one in plan.outputs
            if not isinstance(one.node, KeyColumn)
        ],
        "margins": {
            "confidence": str(plan.confidence),
            "outputs": [
                {"output": one.name, "about": one.about, "margin": noise_margin(plan, one)}
                for one in plan.outputs
                if not isinstance(one.node, KeyColumn)
            ],
        },
        "notes": list(plan.notes),
    }


def noise_margin(plan: Plan, output: Output) -> float | None:
    """An output's margin where the noise alone makes it; None where the answer does."""
    linear = form(output.node)
    laws = laws_of([one for one in plan.blocks if _adds_noise(one)], plan.thresholding)
    if not isinstance(linear, LinearForm) or not _feature_names(output.node) <= set(laws):
        return None
    half = fixed_margin(dict(linear.weights), laws, plan.confidence)
    return float(math.ceil(half)) if output.count else half


def _block(block: Block, confidence: Fraction) -> dict[str, Any]:
    mechanism: Any = block.mechanism
    found = {
        "about": block.about,
        "mechanism": type(mechanism).__name__,
        "integers": list(block.features),
        "parameters": canonical.to_json(mechanism),
        "loss": loss_to_json(mechanism.loss),
        "one_row": canonical.to_json(block.reach),
    }
    if not _adds_noise(block):
        return found
    law = mechanism.noise(len(block.features))
    spread = (
        {"norm": "L2", "variance": str(law.variance)}
        if isinstance(mechanism, Gaussian)
        else {"norm": "L1", "scale": str(law.scale)}
    )
    margin = least_margin(law, confidence)
    return found | {"sensitivity": str(mechanism.sensitivity), **spread, "margin": margin}


def _choice(choice: Choice) -> dict[str, Any]:
    mechanism: Any = choice.mechanism
    return {
        "about": choice.about,
        "mechanism": type(mechanism).__name__,
        "chosen": list(choice.names),
        "parameters": canonical.to_json(mechanism),
        "changes": choice.changes,
        "loss": loss_to_json(choice.loss),
    }


def _threshold(plan: Plan) -> list[dict[str, Any]]:
    rule = plan.thresholding
    if rule is None:
        return []
    return [
        {
            "about": "which groups are shown, and the number of units in each",
            "mechanism": type(rule).__name__,
            "integers": ["units"],
            "parameters": canonical.to_json(rule),
            "loss": loss_to_json(rule.loss),
            "threshold": rule.threshold,
            "margin": rule.margin(plan.confidence),
        }
    ]


def loss_to_json(loss: Loss) -> dict[str, str]:
    """A loss by its exact charges.

    >>> from deniable.privacy import ApproximateLoss, GaussianLoss, PureLoss
    >>> loss_to_json(PureLoss(0.5)), loss_to_json(PureLoss(odds=3))
    ({'epsilon': '1/2'}, {'odds': '3'})
    >>> loss_to_json(GaussianLoss(0.5)), loss_to_json(ApproximateLoss(1, 0.001))
    ({'mu_squared': '1/4'}, {'epsilon': '1', 'delta': '1/1000'})
    """
    found: dict[str, str] = {}
    nats = loss.exact_epsilon
    if nats is not None and not nats.logs:
        found["epsilon"] = str(nats.rational)
    elif nats is not None and nats.rational == 0 and len(nats.logs) == 1:
        odds, count = nats.logs[0]
        found["odds"] = str(odds**count)
    elif loss.mu_squared is not None:
        found["mu_squared"] = str(loss.mu_squared)
    elif loss.rho is not None:
        found["rho"] = str(loss.rho)
    if loss.slack:
        found["delta"] = str(loss.slack)
    return found


def _adds_noise(block: Block) -> bool:
    """Whether a block adds noise to its integers, as opposed to choosing by them."""
    return isinstance(block.mechanism, AdditiveMechanism)


def _feature_names(node: Node) -> set[str]:
    if isinstance(node, Operation):
        return {name for one in node.arguments for name in _feature_names(one)}
    return {node.name} if isinstance(node, Feature) else set()


def _text(number: Fraction | None) -> str | None:
    return None if number is None else str(number)
