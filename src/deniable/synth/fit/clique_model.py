"""A model of many columns: the distribution of largest entropy that fits noisy tables.

It is a product of one factor for each measured table. Its marginals are computed by belief
propagation on a junction tree. The factors are fitted by mirror descent on the squared errors
of the marginals, each over the variance of its noise (McKenna, Sheldon & Miklau,
"Graphical-model based estimation and inference", 2019). Impossible combinations of cells have
no rows in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.synth.fit.belief_propagation import Array, Propagation, add_up, spread
from deniable.synth.fit.junction_tree import Columns, JunctionTree
from deniable.synth.fit.nonnegative_tables import project_table
from deniable.synth.fit.tree_model import NoisyTable

_NEVER = -1e9  # the logarithm of no probability; finite, so that sums are numbers
_TINY = 1e-6  # rows in an empty cell, so that it can still get some
_LEAST_STEP = 1e-12


@dataclass(slots=True)
class CliqueModel:
    """Factors in logarithms, by the columns of their tables, and what follows from them."""

    tree: JunctionTree
    total: float
    factors: dict[Columns, Array]
    beliefs: list[Array] = field(default_factory=list)  # rows in the cells of each clique
    propagation: Propagation | None = None

    @classmethod
    def independent(
        cls,
        one_ways: Sequence[NoisyTable],
        total: float,
        impossible: Mapping[Columns, NDArray[np.bool_]],
    ) -> "CliqueModel":
        """Columns that do not depend on each other, except by what is impossible.
        `impossible` is true in the cells of some columns that no row may have."""
        rows = max(total, 1.0)
        sizes = [own.counts.size for own in one_ways]
        factors: dict[Columns, Array] = {
            (place,): np.log(np.maximum(project_table(own.counts, rows), _TINY) / rows)
            for place, own in enumerate(one_ways)
        }
        for columns, never in impossible.items():
            factors[columns] = factors.get(columns, 0.0) + np.where(never, _NEVER, 0.0)
        model = cls(JunctionTree.of(factors, sizes), rows, factors)
        model.calibrate()
        return model

    def fit(self, tables: Mapping[Columns, NoisyTable], rounds: int) -> "CliqueModel":
        """The model whose marginals are nearest to noisy tables, after some rounds. It begins
        with the factors of this one."""
        factors = dict(self.factors)
        for columns, own in tables.items():
            factors.setdefault(columns, np.zeros(own.counts.shape))
        tree = JunctionTree.of(factors, self.tree.sizes)
        model = CliqueModel(tree, self.total, factors)
        model.calibrate()
        model._descend(tables, rounds)
        return model

    def _descend(self, tables: Mapping[Columns, NoisyTable], rounds: int) -> None:
        """Mirror descent: the step doubles while errors fall, and halves if they do not."""
        loss, gradient = self._errors(tables)
        step = 1 / (self.total * max(1 / own.variance for own in tables.values()))
        for _ in range(rounds):
            if step < _LEAST_STEP or loss <= 0:
                return
            before, beliefs = self.factors, self.beliefs
            self.factors = {
                columns: own - step * gradient[columns] if columns in gradient else own
                for columns, own in before.items()
            }
            self.calibrate()
            new_loss, new_gradient = self._errors(tables)
            if new_loss < loss:
                step *= 1.5 if loss - new_loss > 1e-4 * loss else 2.0
                loss, gradient = new_loss, new_gradient
            else:
                self.factors, self.beliefs = before, beliefs
                step /= 3

    def _errors(
        self, tables: Mapping[Columns, NoisyTable]
    ) -> tuple[float, dict[Columns, Array]]:
        assert self.propagation is not None
        fitted = self.propagation.tables(self.beliefs)
        loss, gradient = 0.0, {}
        for columns, own in tables.items():
            apart = fitted[columns] - own.counts
            gradient[columns] = apart / own.variance
            loss += float((apart * gradient[columns]).sum()) / 2
        return loss, gradient

    def calibrate(self) -> None:
        """The rows in the cells of every clique, from the factors."""
        if self.propagation is None:
            self.propagation = Propagation.of(self.tree, self.factors)
        self.beliefs = self.propagation.count(self.factors, self.total)

    def marginal(self, columns: Columns) -> Array:
        """The table of some columns, which need not be in one clique."""
        home = self.tree.home(columns)
        if home >= 0:
            return add_up(self.beliefs[home], self.tree.cliques[home], columns)
        return self._across(columns)

    def _across(self, columns: Columns) -> Array:
        """The table of columns in several cliques: from the leaves of the tree to its root,
        columns that nobody needs any more are summed out."""
        tree, wanted = self.tree, set(columns)
        sent: dict[int, list[tuple[Array, Columns]]] = {}
        for place in range(len(tree.cliques) - 1, -1, -1):
            clique, held = tree.cliques[place], sent.get(place, [])
            here = wanted & {p for _, own in held for p in own}
            shared = tree.separator(place) if place else ()
            kept = tuple(sorted({*shared, *(wanted & set(clique)), *here}))
            if place and set(kept) == set(shared) and not here - set(shared):
                continue  # it tells nothing that its parent does not know
            parts: list[Any] = [self.beliefs[place], list(clique)]
            for table, own in held:
                parts += [table, list(own)]
            table = np.einsum(*parts, list(kept), optimize="greedy")
            if not place:
                return np.asarray(np.transpose(table, [kept.index(p) for p in columns]))
            rows = add_up(self.beliefs[place], clique, shared)
            rows = spread(np.maximum(rows, 1e-300), shared, kept)
            sent.setdefault(tree.parents[place], []).append((table / rows, kept))
        raise AssertionError("The first clique is the root.")
