"""Dinur and Nissim's attack: 64 secret bits from 256 sums."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit.attack import reconstruction

# The means of 150 attacks; one attack has a standard deviation of about 0.06.
KNOWN = {0: 1.0, 2: 0.94, 4: 0.78, 8: 0.66, 16: 0.58}


def test_the_share_of_bits_falls_as_noise_grows(size):
    repeats = size(small=20, full=150, what="reconstructions at each of five noises")
    finding = reconstruction(64, sums=256, noises=list(KNOWN), repeats=repeats)
    for noise, share in KNOWN.items():
        assert finding.share(noise) == pytest.approx(
            share, abs=0.05 if repeats > 100 else 0.075
        )
    assert finding.share(0) == 1


def test_bits_of_a_table_are_recovered():
    patients = pa.table({"ill": ["yes", "no", "no"] * 20})
    finding = reconstruction(patients, secret="ill", people=20, noises=[0])
    assert (finding.people, finding.sums, finding.share(0)) == (20, 80, 1)
    assert not finding.made_up


@pytest.mark.parametrize("secret", [None, "nix", "three"])
def test_a_secret_needs_two_values(secret):
    with pytest.raises(dp.InvalidParameter, match="two values"):
        reconstruction(pa.table({"three": [1, 2, 3]}), secret=secret)
