"""What one unit, or one row, of a sample adds to a sum: a mean over all that were drawn.

With a frame of M units a sum over the population is M times that mean. Y is what a unit adds,
and 0 if it adds nothing: rows without a value count among those that were drawn, too. The sum
of Y * Y says how much Y varies, unless few units add something: then its errors reach further
(`mean_intervals`). A count with one row a unit is a share.
"""

import numpy as np

from deniable.errors import InvalidParameter
from deniable.infer.groups.group_means import GroupMeans, UnitMoments
from deniable.infer.groups.readings import GroupAmounts, noise_parts
from deniable.infer.groups.unit_squares import (
    linear_outputs,
    numbers,
    reach_of,
    read_moments,
)
from deniable.release.session.release import Release


def mean_of_drawn(release: Release, amounts: GroupAmounts) -> GroupMeans:
    """The mean over all rows or units of each group of what they add to a sum or a count."""
    plan, outputs = release.plan, linear_outputs(release.plan)
    inner = amounts.what.removeprefix("SUM(").removesuffix(")")
    squares = f"SUM(({inner} * {inner}))"
    share = amounts.count  # of rows: each adds 0 or 1
    needed = [amounts.what, "COUNT(*)"] + ([] if share else [squares])
    if not release.for_population or not all(about in outputs for about in needed):
        raise InvalidParameter(
            f"The population's {amounts.what} follows from the frame if all that were drawn "
            "are counted beside it. Put FOR POPULATION at the end of the question, which asks "
            "for that; or declare the sample's fraction."
        )
    above, below = outputs[amounts.what], outputs["COUNT(*)"]
    low, high = (0.0, 1.0) if share else reach_of(plan, above)
    moments: UnitMoments | None = None
    if not share:
        moments = read_moments(release, [outputs[squares], above, below])
    return GroupMeans(
        amounts.groups,
        amounts.values,
        np.asarray(numbers(release, below[0])),
        noise_parts(plan, above[1], below[1]),
        amounts.what,
        min(low, 0.0),
        max(high, 0.0),
        moments=moments,
        sparse=True,
        shared=plan.max_groups_per_unit > 1,
    )
