"""Every coin string that a sampler can be given, up to a depth, replayed.

What ends within the depth adds to the mass of its outcome; what does not stays open. The
true probability of an outcome then lies between its mass and its mass plus what is open.
"""

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction

from deniable.exact.bits import BitSource, ScriptedBits, ScriptExhausted


@dataclass(frozen=True)
class Enumerated:
    """The outcomes of all coin strings of some depth."""

    mass: dict[Hashable, Fraction]
    open: Fraction

    def brackets(self, outcome: Hashable, low: Fraction, high: Fraction) -> bool:
        """Whether a probability known to lie in [low, high] can be that of `outcome`."""
        mass = self.mass.get(outcome, Fraction(0))
        return mass <= high and low <= mass + self.open


def enumerate_coins(sample: Callable[[BitSource], Hashable], depth: int) -> Enumerated:
    """Replays `sample` on every coin string of at most `depth` bits."""
    mass: Counter[Hashable] = Counter()
    left = Fraction(0)
    scripts: list[tuple[tuple[int, ...], int]] = [((), 0)]
    while scripts:
        script, used = scripts.pop()
        try:
            mass[sample(ScriptedBits(script))] += Fraction(1, 1 << used)
        except ScriptExhausted as wish:
            if used + wish.bits > depth:
                left += Fraction(1, 1 << used)
            else:
                longer = used + wish.bits
                scripts += [((*script, word), longer) for word in range(1 << wish.bits)]
    return Enumerated(dict(mass), left)
