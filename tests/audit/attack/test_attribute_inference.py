"""Only what a release adds about the people in it is a leak."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit.attack import attribute_inference

RNG = np.random.default_rng(8)


def test_the_smokers_risk_is_not_a_leak():
    smokes = RNG.integers(0, 2, 4000) == 1
    ill = RNG.random(4000) < np.where(smokes, 0.9, 0.1)
    people = pa.table({"smokes": smokes, "ill": ill})
    finding = attribute_inference(people, secret="ill", known=["smokes"])
    assert finding.exact[0] == pytest.approx(0.9, abs=0.03)
    assert abs(finding.leak) < 0.01
    assert abs(finding.private_leak) < 0.01


def test_small_cells_leak_and_noise_stops_it():
    people = pa.table(
        {"zip": RNG.integers(0, 1000, 2000), "ill": RNG.integers(0, 2, 2000) == 1}
    )
    limits = {"bounds": {"zip": (0, 999)}, "step": {"zip": 1}}
    finding = attribute_inference(people, secret="ill", known=["zip"], epsilon=0.1, **limits)
    assert finding.leak > 0.2
    assert finding.private_leak < finding.leak / 2
    assert finding.exact[1] == pytest.approx(0.5, abs=0.07)


def test_it_says_if_no_group_was_released():
    people = pa.table({"age": range(40), "ill": [i % 2 == 0 for i in range(40)]})
    alone = attribute_inference(people, secret="ill", known=["age"])
    assert alone.private == (0, 0)
    assert "The private tables released no group" in str(alone)
    keyed = attribute_inference(people, secret="ill", known=["age"], bounds={"age": (0, 39)})
    assert "released no group" not in str(keyed)


@pytest.mark.parametrize(
    ("secret", "known"), [("nix", ["zip"]), ("zip", []), ("zip", ["zip"]), ("zip", ["nix"])]
)
def test_wrong_columns_are_refused(secret, known):
    with pytest.raises(dp.InvalidParameter, match="must be a column"):
        attribute_inference(pa.table({"zip": [1]}), secret=secret, known=known)
