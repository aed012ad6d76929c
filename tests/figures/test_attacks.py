"""Pictures of attacks show the shares that were found, and only those of made-up people."""

import pyarrow as pa
import pytest

from deniable.audit.attack import reconstruction, simulate_membership
from deniable.errors import InvalidParameter
from deniable.figures import attacks


def test_the_lines_are_the_findings():
    recovered = reconstruction(8, noises=[0, 5])
    traced = [simulate_membership(10, d, repeats=2) for d in (10, 100)]
    left, right = attacks.compare(recovered, traced).axes
    assert list(left.lines[-1].get_ydata()) == [share for _, share in recovered.shares]
    exact, private = right.lines[-2:]
    assert list(exact.get_ydata()) == [finding.exact.auc for finding in traced]
    assert list(private.get_ydata()) == [finding.private.auc for finding in traced]


def test_findings_about_people_are_not_drawn():
    people = pa.table({"ill": [True, False] * 5})
    finding = reconstruction(people, secret="ill", noises=[0])
    with pytest.raises(InvalidParameter, match="made-up rows only"):
        attacks.compare(finding, [simulate_membership(10, 10, repeats=1)])
