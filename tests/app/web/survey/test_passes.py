"""Blind passes in a real browser: the vectors of RFC 9474, and a signature that fits."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA384

from deniable.app.web.survey.page import read_file
from tests.app.web.survey.stub_server import StubServer

pytestmark = pytest.mark.needs("chromium")

VECTORS = Path(__file__).parents[3] / "surveys" / "collect"
VECTOR = json.loads((VECTORS / "rfc9474.json").read_text())
OTHERS = json.loads((VECTORS / "rfc9474_others.json").read_text())["variants"]
BLIND = """async ([key, given]) => {
    const bytes = (text) => text ? toBytes(BigInt("0x" + text), text.length / 2) : [];
    return blindPass(key, {
        number: bytes(given.number),
        randomizer: bytes(given.randomizer),
        salt: bytes(given.salt),
        factor: BigInt(given.factor),
    });
}"""
FINISH = "([key, waiting, signature]) => finishPass(key, waiting, signature)"


def to_hex(text):
    return urlsafe_b64decode(text + "=" * (-len(text) % 4)).hex()


def to_base64(integer, length=256):
    return urlsafe_b64encode(integer.to_bytes(length)).decode().rstrip("=")


@pytest.fixture(scope="module")
def passes(chromium_of_worker):
    """A page with the script. Only a page of a server has `crypto.subtle`."""
    holder = b'<!doctype html><title>passes</title><script src="passes.js"></script>'
    with StubServer({"/": holder, "/passes.js": read_file("passes.js")}) as server:
        page = chromium_of_worker.new_context().new_page()
        page.goto(server.origin)
        yield page


@pytest.fixture(scope="module")
def secret():
    return generate_private_key(65537, 2048).private_numbers()


def as_key(n, e):
    return {"n": str(n), "e": str(e)}


def test_the_vectors_of_the_rfc(passes):
    n = int(VECTOR["p"], 16) * int(VECTOR["q"], 16)
    key = as_key(n, int(VECTOR["e"], 16))
    factor = pow(int(VECTOR["inv"], 16), -1, n)
    given = {
        "number": VECTOR["msg"],
        "randomizer": VECTOR["msg_prefix"],
        "salt": VECTOR["salt"],
        "factor": str(factor),
    }
    waiting = passes.evaluate(BLIND, [key, given])
    assert to_hex(waiting["blinded"]) == VECTOR["blinded_msg"]
    assert to_hex(waiting["uncover"]) == VECTOR["inv"]
    signature = to_base64(int(VECTOR["blind_sig"], 16), len(VECTOR["blind_sig"]) // 2)
    result = passes.evaluate(FINISH, [key, waiting, signature])
    assert to_hex(result["signature"]) == VECTOR["sig"]


@pytest.mark.parametrize("vector", OTHERS, ids=lambda vector: vector["variant"])
def test_the_other_variants_of_the_rfc(passes, vector):
    """The script signs nothing else than its own variant, but encodes and blinds them all."""
    n = int(VECTOR["p"], 16) * int(VECTOR["q"], 16)
    given = {
        "number": VECTOR["msg"],
        "randomizer": vector["msg_prefix"],
        "salt": vector["salt"],
        "factor": str(pow(int(VECTOR["inv"], 16), -1, n)),
    }
    waiting = passes.evaluate(BLIND, [as_key(n, int(VECTOR["e"], 16)), given])
    assert to_hex(waiting["blinded"]) == vector["blinded_msg"]


def test_a_blind_signature_is_one_of_rsa_pss(passes, secret):
    n, e = secret.public_numbers.n, secret.public_numbers.e
    waiting = passes.evaluate("(key) => blindPass(key)", as_key(n, e))
    blinded = int(to_hex(waiting["blinded"]), 16)
    result = passes.evaluate(
        FINISH, [as_key(n, e), waiting, to_base64(pow(blinded, secret.d, n))]
    )
    message = bytes.fromhex(to_hex(result["randomizer"]) + to_hex(result["number"]))
    padding = PSS(mgf=MGF1(SHA384()), salt_length=48)
    signature = bytes.fromhex(to_hex(result["signature"]))
    RSAPublicNumbers(e, n).public_key().verify(signature, message, padding, SHA384())


def test_two_passes_have_nothing_in_common(passes, secret):
    key = as_key(secret.public_numbers.n, secret.public_numbers.e)
    first, second = (passes.evaluate("(key) => blindPass(key)", key) for _ in range(2))
    assert all(first[part] != second[part] for part in first)


def test_a_host_that_signs_something_else_is_refused(passes, secret):
    key = as_key(secret.public_numbers.n, secret.public_numbers.e)
    waiting = passes.evaluate("(key) => blindPass(key)", key)
    other = pow(12345, secret.d, secret.public_numbers.n)
    with pytest.raises(Exception, match="does not fit the pass"):
        passes.evaluate(FINISH, [key, waiting, to_base64(other)])
