"""A level of ROLLUP and the like: groups that are made of the finest groups' rows.

The finest groups limit what one unit has: rows in a group, and groups. A level adds up what is
left, so its counts are those of the finest groups added up, and the same rows are in every
level. A unit is in no more groups than in the finest ones, but all that it has may be in one.
"""

from dataclasses import replace
from math import prod

from deniable.errors import InvalidParameter, InvalidQuery
from deniable.query.plan.plan import GroupKey, KeyColumn, Output
from deniable.query.planner.draft import Draft, UnitLimits
from deniable.query.statements.input_rows import Grouping


def level_limits(draft: Draft) -> UnitLimits:
    """What one unit has in the groups that are answered."""
    level, rows = draft.request.level, draft.table.max_rows_per_unit_per_group
    if level is None:
        return UnitLimits(draft.groups, rows)
    if draft.private or draft.request.other:
        raise InvalidQuery("Levels are made of declared groups, and have no `other` group.")
    places = range(len(draft.keys))
    if not isinstance(level, tuple) or level != tuple(i for i in places if i in level):
        raise InvalidParameter(
            f"`level` must be places of keys, in order, such as (0, 2). Found {level!r}."
        )
    sizes = [len(key.values or ()) for key in draft.keys]
    kept = prod(sizes[place] for place in level)
    dropped = prod(size for place, size in enumerate(sizes) if place not in level)
    groups, each = min(kept, draft.groups), min(dropped, draft.groups)
    whole = min(groups * each, draft.groups) * rows
    return UnitLimits(groups, each * rows, whole)


def groupings_of(draft: Draft) -> tuple[Grouping, ...]:
    """The keys of the finest groups. Those that a level does not have are not in its plan."""
    level = draft.request.level
    pairs = list(zip(draft.keys, draft.key_expressions, strict=True))
    if level is None:
        return tuple(Grouping(key, expression) for key, expression in pairs)
    return tuple(
        Grouping(key, expression, place in level, plan_place=_place_in(level, place))
        for place, (key, expression) in enumerate(pairs)
    )


def _place_in(level: tuple[int, ...], place: int) -> int | None:
    return level.index(place) if place in level else None


def level_columns(draft: Draft) -> tuple[tuple[GroupKey, ...], tuple[Output, ...]]:
    """The keys and the outputs of the plan: a level has its own ones."""
    level = draft.request.level
    if level is None:
        return draft.keys, draft.outputs
    outputs = []
    for output in draft.outputs:
        node = output.node
        if isinstance(node, KeyColumn):
            if node.place not in level:
                continue
            outputs.append(replace(output, node=KeyColumn(level.index(node.place))))
        else:
            outputs.append(output)
    return tuple(draft.keys[place] for place in level), tuple(outputs)
