"""What a certificate states about a plan. Every number follows from the plan.

The statement describes the plan for people and for other programs. `verification` computes it
again from the plan and compares, so it detects a wrong number even if it was signed.
"""

import math
from fractions import Fraction
from typing import Any

from deniable.mechanisms import Gaussian
from deniable.mechanisms.noise.additive import AdditiveMechanism, least_margin
from deniable.privacy import Loss
from deniable.query.margins.chosen_rows import (
    chooses_rows,
    confidence_for_each,
    declared_groups,
)
from deniable.query.margins.linear_forms import LinearForm, features_of, form
from deniable.query.margins.margins import noise_of_features
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.query.plan import canonical
from deniable.query.plan.plan import (
    Block,
    Choice,
    Distances,
    KeyColumn,
    Output,
    Plan,
)


def write_statement(plan: Plan) -> dict[str, Any]:
    """The units that a plan protects, its loss, its noise and its margins.

    >>> from fractions import Fraction
    >>> from deniable.mechanisms import Laplace
    >>> _describe_block(Block(("n",), "rows", Laplace(epsilon=0.5)), Fraction(19, 20))["scale"]
    '2'
    """
    numbers = [output for output in plan.outputs if not isinstance(output.node, KeyColumn)]
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
            *(_describe_block(block, plan.confidence) for block in plan.blocks),
            *([] if plan.distances is None else [_describe_distances(plan.distances)]),
            *map(_describe_choice, plan.choices),
            *_describe_threshold(plan),
        ],
        "groups": [
            {"key": key.name, "declared": None if key.values is None else len(key.values)}
            for key in plan.keys
        ],
        "bounds": [_describe_bounds(output) for output in numbers],
        "margins": {
            "confidence": str(plan.confidence),
            "outputs": [_describe_margin(plan, output) for output in numbers],
        },
        "notes": list(plan.notes),
    }


def _describe_bounds(output: Output) -> dict[str, str | None]:
    low, high = _fraction_text(output.low), _fraction_text(output.high)
    return {"output": output.name, "low": low, "high": high}


def _describe_margin(plan: Plan, output: Output) -> dict[str, Any]:
    margin = noise_margin(plan, output)
    return {"output": output.name, "about": output.about, "margin": margin}


def noise_margin(plan: Plan, output: Output) -> float | None:
    """An output's margin if it depends only on the noise; None if it depends on the answer."""
    linear = form(output.node)
    noises = noise_of_features(
        [block for block in plan.blocks if _adds_noise(block)], plan.thresholding
    )
    if (
        not isinstance(linear, LinearForm)
        or not features_of(output.node).keys() <= noises.keys()
        or "units" in features_of(output.node)
    ):
        return None
    confidence = plan.confidence
    if chooses_rows(plan.having, plan.order, plan.limit):
        groups = declared_groups(plan.keys, other=plan.other)
        if groups is None:
            return None
        confidence = confidence_for_each(confidence, groups)
    half = fixed_margin(dict(linear.weights), noises, confidence)
    return float(math.ceil(half)) if output.count else half


def _describe_block(block: Block, confidence: Fraction) -> dict[str, Any]:
    mechanism: Any = block.mechanism
    description = {
        "about": block.about,
        "mechanism": type(mechanism).__name__,
        "integers": list(block.features),
        "parameters": canonical.to_json(mechanism),
        "loss": loss_to_json(mechanism.loss),
        "one_row": canonical.to_json(block.reach),
    }
    if not _adds_noise(block):
        return description
    law = mechanism.noise(len(block.features))
    spread = (
        {"norm": "L2", "variance": str(law.variance)}
        if isinstance(mechanism, Gaussian)
        else {"norm": "L1", "scale": str(law.scale)}
    )
    margin = least_margin(law, confidence)
    sensitivity = {"sensitivity": str(mechanism.sensitivity)}
    return description | sensitivity | spread | {"margin": margin}


def _describe_choice(choice: Choice) -> dict[str, Any]:
    mechanism: Any = choice.mechanism
    return {
        "about": choice.about,
        "mechanism": type(mechanism).__name__,
        "chosen": list(choice.names),
        "parameters": canonical.to_json(mechanism),
        "changes": choice.changes,
        "loss": loss_to_json(choice.loss),
    }


def _describe_distances(distances: Distances) -> dict[str, Any]:
    mechanism: Any = distances.mechanism
    description = {
        "about": distances.about,
        "mechanism": type(mechanism).__name__,
        "tables": [table.about for table in distances.tables],
        "parameters": canonical.to_json(mechanism),
        "sensitivity": str(mechanism.sensitivity),
        "loss": loss_to_json(distances.loss),
    }
    if isinstance(mechanism, Gaussian):
        return description | {"norm": "L2", "variance": str(mechanism.variance)}
    return description | {"chosen": list(distances.names)}


def _describe_threshold(plan: Plan) -> list[dict[str, Any]]:
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
    """A loss by its exact parameters.

    >>> from deniable.privacy import ApproximateLoss, GaussianLoss, PureLoss
    >>> loss_to_json(PureLoss(0.5)), loss_to_json(PureLoss(odds=3))
    ({'epsilon': '1/2'}, {'odds': '3'})
    >>> loss_to_json(GaussianLoss(0.5)), loss_to_json(ApproximateLoss(1, 0.001))
    ({'mu_squared': '1/4'}, {'epsilon': '1', 'delta': '1/1000'})
    """
    parameters: dict[str, str] = {}
    epsilon = loss.exact_epsilon
    if epsilon is not None and not epsilon.logs:
        parameters["epsilon"] = str(epsilon.rational)
    elif epsilon is not None and epsilon.rational == 0 and len(epsilon.logs) == 1:
        odds, count = epsilon.logs[0]
        parameters["odds"] = str(odds**count)
    elif loss.mu_squared is not None:
        parameters["mu_squared"] = str(loss.mu_squared)
    elif loss.rho is not None:
        parameters["rho"] = str(loss.rho)
    if loss.slack:
        parameters["delta"] = str(loss.slack)
    return parameters


def _adds_noise(block: Block) -> bool:
    """Whether a block's mechanism adds noise to its integers."""
    return isinstance(block.mechanism, AdditiveMechanism)


def _fraction_text(number: Fraction | None) -> str | None:
    return None if number is None else str(number)
