"""Means of groups, with what is known about how their rows were drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from deniable.infer.groups.drawn_samples import draw_of, sampled_part
from deniable.infer.groups.group_means import GroupMeans, Key
from deniable.infer.groups.local_shares import LocalShares
from deniable.infer.inferred import POPULATION
from deniable.release.session.release import Release


@dataclass(frozen=True, slots=True)
class DrawnMeans:
    """Means or shares, and the release that says how their rows were drawn; None if nothing
    says it, as for a survey."""

    means: GroupMeans | LocalShares
    release: object = None

    def parts(self, places: Sequence[int], level: Fraction) -> list[GroupMeans | LocalShares]:
        """The groups at these places, each with the share of its population in the sample."""
        means, release = self.means, self.release
        if isinstance(release, Release) and isinstance(means, GroupMeans):
            return [sampled_part(release, means, place, None, level) for place in places]
        return [means.at(place) for place in places]

    def target(self, places: Sequence[int]) -> str:
        """What is inferred about."""
        return target_of(self.release, self.means.groups[places[0]])


def target_of(release: object, group: Key) -> str:
    """What is inferred about. Refuses a sample in strata whose groups are not strata."""
    return draw_of(release, group, None).target if isinstance(release, Release) else POPULATION
