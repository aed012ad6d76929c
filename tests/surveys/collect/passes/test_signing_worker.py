import json
import math
from pathlib import Path

import pytest

from deniable.surveys.collect.passes import signing_worker
from deniable.surveys.collect.passes.signing_worker import RawKey

VECTOR = {
    name: text if name == "source" else int(text, 16)
    for name, text in json.loads(
        (Path(__file__).parents[1] / "rfc9474.json").read_text(encoding="utf-8")
    ).items()
}
KEY = RawKey(VECTOR["p"], VECTOR["q"], VECTOR["e"])


def test_the_signature_of_the_rfc():
    assert KEY.sign(VECTOR["blinded_msg"]) == VECTOR["blind_sig"]


@pytest.mark.parametrize("blinded", [0, -1, KEY.p * KEY.q, KEY.p * KEY.q + 1])
def test_a_number_outside_of_the_modulus_is_refused(blinded):
    with pytest.raises(ValueError, match="below the modulus"):
        KEY.sign(blinded)


def test_the_private_operation_never_sees_the_message(monkeypatch):
    """Base blinding: the same message is covered by another random number each time."""
    seen = []

    class Watched(RawKey):
        def _root(self, number):
            seen.append(number)
            return super()._root(number)

    small = Watched(p=1009, q=1013, e=17)
    for _ in range(8):
        assert pow(small.sign(4), 17, 1009 * 1013) == 4
    assert len(set(seen)) == 8
    assert 4 not in seen


def test_a_wrong_half_is_noticed_before_it_gives_a_factor_away(monkeypatch):
    """A fault modulo p only: without the check, gcd(s**e - z, n) would be q."""

    class Faulty(RawKey):
        def _root(self, number):
            return (super()._root(number) + self.q) % (self.p * self.q)

    faulty = Faulty(p=1009, q=1013, e=17)
    wrong = faulty._root(4)
    assert math.gcd(pow(wrong, 17, 1009 * 1013) - 4, 1009 * 1013) == 1013
    with pytest.raises(ArithmeticError, match="does not fit"):
        faulty.sign(4)


def test_covers_have_inverses():
    covers = [signing_worker._base_blinding(15) for _ in range(100)]
    assert all(a * b % 15 == 1 for a, b in covers)
    assert {a for a, _ in covers} == {1, 2, 4, 7, 8, 11, 13, 14}
