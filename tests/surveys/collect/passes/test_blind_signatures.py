import json
import secrets
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA384

import deniable as dp
from deniable.surveys.collect.passes.blind_signatures import (
    BlindedPass,
    BlindPass,
    PublicPassKey,
    encode,
)
from deniable.surveys.collect.passes.pass_keys import SecretPassKey
from tests.surveys.collect.passes.test_signing_worker import KEY, VECTOR

N = VECTOR["p"] * VECTOR["q"]
RFC = PublicPassKey(N, VECTOR["e"])
PREPARED = VECTOR["msg_prefix"].to_bytes(32) + VECTOR["msg"].to_bytes(48)


@pytest.fixture(scope="module")
def secret():
    return SecretPassKey.new()


def sign(secret):
    waiting = secret.public.blind()
    return secret.public.finish(waiting, secret.sign(waiting.blinded))


def test_blinding_of_the_rfc():
    encoded = int.from_bytes(encode(PREPARED, VECTOR["salt"].to_bytes(48), 4095))
    cover = pow(VECTOR["inv"], -1, N)
    assert encoded * pow(cover, VECTOR["e"], N) % N == VECTOR["blinded_msg"]


OTHERS = json.loads(
    (Path(__file__).parents[1] / "rfc9474_others.json").read_text(encoding="utf-8")
)["variants"]


@pytest.mark.parametrize("vector", OTHERS, ids=lambda vector: vector["variant"])
def test_the_other_variants_of_the_rfc(vector):
    """We use one variant. The others have no salt, or no random prefix, and share our code."""
    message = bytes.fromhex(vector["msg_prefix"]) + VECTOR["msg"].to_bytes(48)
    encoded = int.from_bytes(encode(message, bytes.fromhex(vector["salt"]), 4095))
    cover = pow(VECTOR["inv"], -1, N)
    blinded = encoded * pow(cover, VECTOR["e"], N) % N
    assert blinded == int(vector["blinded_msg"], 16)
    signed = KEY.sign(blinded)
    assert signed == int(vector["blind_sig"], 16)
    signature = signed * VECTOR["inv"] % N
    assert signature == int(vector["sig"], 16)
    # Of these only the one with our salt is a signature to us, and none is a pass.
    assert RFC.verify(signature.to_bytes(512), message) == bool(vector["salt"])


def test_finishing_and_checking_of_the_rfc():
    signature = VECTOR["blind_sig"] * VECTOR["inv"] % N
    assert signature == VECTOR["sig"]
    assert RFC.verify(signature.to_bytes(512), PREPARED)
    assert not RFC.verify(signature.to_bytes(512), PREPARED + b"!")


def test_finish_unblinds_as_the_rfc_does(monkeypatch):
    monkeypatch.setattr(PublicPassKey, "is_valid", lambda key, ticket: True)  # a longer message
    waiting = BlindedPass(b"", b"", b"", VECTOR["inv"])
    assert RFC.finish(waiting, VECTOR["blind_sig"].to_bytes(512)).signature == VECTOR[
        "sig"
    ].to_bytes(512)


def test_an_encoded_message_is_what_cryptography_recovers(secret):
    """Our PSS encoding, signed without blinding, is a signature for `cryptography`."""
    for _ in range(20):
        message = secrets.token_bytes(64)
        encoded = encode(message, secrets.token_bytes(48), secret.public.n.bit_length() - 1)
        assert secret.public.verify(secret.sign(encoded.rjust(256, b"\0")), message)


def test_a_signature_of_cryptography_is_valid():
    private = rsa.generate_private_key(65537, 2048)
    number, randomizer = secrets.token_bytes(32), secrets.token_bytes(32)
    pss = padding.PSS(padding.MGF1(SHA384()), 48)
    signature = private.sign(randomizer + number, pss, SHA384())
    key = PublicPassKey(private.public_key().public_numbers().n, 65537)
    assert key.is_valid(BlindPass(number, randomizer, signature))


def test_passes_are_valid_and_differ(secret):
    passes = [sign(secret) for _ in range(10)]
    assert all(secret.public.is_valid(ticket) for ticket in passes)
    assert len({ticket.hash for ticket in passes}) == 10


def test_a_blinded_message_says_nothing_about_its_pass(secret):
    """The host saw the blinded messages and sees the pass. What was blinded is in none of the
    messages, and for each message there is a cover that joins them: no one is more likely."""
    waiting = [secret.public.blind() for _ in range(5)]
    ticket = secret.public.finish(waiting[0], secret.sign(waiting[0].blinded))
    n, e = secret.public.n, secret.public.e
    encoded = pow(int.from_bytes(ticket.signature), e, n)  # what was blinded
    messages = [int.from_bytes(each.blinded) for each in waiting]
    assert encoded not in messages
    covers = [secret.raw.sign(message * pow(encoded, -1, n) % n) for message in messages]
    for cover, message in zip(covers, messages, strict=True):
        assert encoded * pow(cover, e, n) % n == message
    assert 1 not in covers


@pytest.mark.parametrize(
    "change",
    [
        lambda t: BlindPass(bytes(32), t.randomizer, t.signature),
        lambda t: BlindPass(t.number, bytes(32), t.signature),
        lambda t: BlindPass(t.number, t.randomizer, bytes(256)),
        lambda t: BlindPass(t.number, t.randomizer, b"\xff" * 256),
        lambda t: BlindPass(t.number, t.randomizer, t.signature[:-1]),
        lambda t: BlindPass(t.number, t.randomizer, b"\0" + t.signature),
        lambda t: BlindPass(t.number[:-1], t.randomizer + t.number[:1], t.signature),
        lambda t: BlindPass(t.randomizer, t.number, t.signature),
        lambda t: BlindPass(b"", t.randomizer + t.number, t.signature),
    ],
)
def test_a_forged_pass_is_refused(secret, change):
    ticket = sign(secret)
    assert secret.public.is_valid(ticket)
    assert not secret.public.is_valid(change(ticket))


def test_the_split_of_a_pass_is_fixed(secret):
    """Else one signature would give several passes: the same bytes, split elsewhere."""
    ticket = sign(secret)
    joined = ticket.randomizer + ticket.number
    for at in (0, 16, 31, 33, 64):
        assert not secret.public.is_valid(BlindPass(joined[at:], joined[:at], ticket.signature))


def test_a_host_that_signs_something_else_is_refused(secret):
    waiting = secret.public.blind()
    with pytest.raises(dp.InvalidData, match="does not fit"):
        secret.public.finish(waiting, secret.sign(bytes(255) + b"\x02"))


@pytest.mark.parametrize(("n", "e"), [(2**1023 + 1, 65537), (2**2047 + 1, 4), (2**2046, 65537)])
def test_a_weak_key_is_refused(n, e):
    with pytest.raises(dp.InvalidParameter, match="pass key"):
        PublicPassKey(n, e)
