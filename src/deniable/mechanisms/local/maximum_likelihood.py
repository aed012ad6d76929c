"""Estimates shares of answers from counts of reports and their channels, by maximum likelihood.

Expectation and maximisation (Dempster, Laird & Rubin 1977): each report is divided among the
answers that could have caused it, in proportion to their current probabilities. The likelihood
grows with every round. It is concave in the shares, so it has one highest value.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter

_ROUNDS = 100_000
_STILL = 1e-12
_NOTHING = 1e-9  # a share of zero is approached but never reached


def expectation_maximisation(
    parts: Sequence[tuple[NDArray[Any], NDArray[Any]]],
    *,
    smooth: bool = False,
    rounds: int = _ROUNDS,
    still: float = _STILL,
) -> NDArray[Any]:
    """The most likely distribution of answers, given batches of counts and their channels.

    A channel has P(y | x) in row y, column x. With `smooth`, each share is averaged with its
    neighbours (weights 1, 2, 1) after each round.

    >>> channel = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> expectation_maximisation([(channel, np.array([600.0, 400.0]))]).round(6).tolist()
    [0.7, 0.3]
    """
    answers = {channel.shape[1] for channel, _ in parts}
    if len(answers) != 1:
        raise InvalidParameter("All designs must have the same answers.")
    total = sum(float(counts.sum()) for _, counts in parts)
    shares = np.full(answers.pop(), 1.0)
    shares /= shares.size
    for _ in range(rounds):
        pulled = np.zeros_like(shares)
        for channel, counts in parts:
            rates = channel @ shares
            pulled += channel.T @ np.divide(
                counts, rates, out=np.zeros_like(rates), where=counts > 0
            )
        moved = shares * pulled / total
        if smooth:
            moved = _smooth(moved)
        change = float(np.abs(moved - shares).max())
        shares = moved
        if change < still:
            break
    shares[shares < _NOTHING] = 0.0
    return np.asarray(shares / shares.sum())


def _smooth(shares: NDArray[Any]) -> NDArray[Any]:
    padded = np.pad(shares, 1, mode="edge")
    spread = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    return np.asarray(spread / spread.sum())
