"""The bits of the tests: the same in every `make test`, fresh in `make soak`.

A statistical test that fails once in ten thousand runs would, among thousands of its kind,
stop honest work every other day. So at small size each test (and each fixture that several
share) draws from its own fixed key, made of its name; what a change breaks then fails in every
run, on every machine, and what it does not break never does. At full size the bits are the
system's own, as in every release. Processes that a test starts draw fresh bits always.
"""

import contextlib
import hashlib
import itertools
import os
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
import pytest
from _pytest.fixtures import FixtureDef, SubRequest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from deniable.exact import bits
from tools.scheduling import name_without_group

_CIPHER, _GENERATOR = bits._fresh_cipher, np.random.default_rng


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    with _fixed(name_without_group(item), item.config):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: FixtureDef[Any], request: SubRequest
) -> Generator[None, Any, Any]:
    if fixturedef.scope == "function":
        return (yield)
    # Which test comes first, and so sets it up, is chance: workers share the tests out.
    name = f"{fixturedef.baseid} {fixturedef.argname} {getattr(request, 'param', None)!r}"
    with _fixed(name, request.config):
        return (yield)


@contextlib.contextmanager
def _fixed(name: str, config: pytest.Config) -> Iterator[None]:
    """While this lasts, keys and numpy's unseeded generators follow from a name."""
    if config.getoption("full") or os.environ.get("DENIABLE_FULL"):
        yield
        return
    process, ciphers, generators = os.getpid(), itertools.count(), itertools.count()

    def key(what: str, turn: int) -> bytes:
        return hashlib.sha256(f"{name} {what} {turn}".encode()).digest()

    def fixed_cipher() -> Any:
        if os.getpid() != process:
            return _CIPHER()
        known = algorithms.AES(key("bits", next(ciphers)))
        return Cipher(known, modes.CTR(bytes(16))).encryptor()

    def fixed_generator(seed: Any = None) -> np.random.Generator:
        if seed is not None or os.getpid() != process:
            return _GENERATOR(seed)
        return _GENERATOR(int.from_bytes(key("numpy", next(generators))))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bits, "_fresh_cipher", fixed_cipher)
        patch.setattr(np.random, "default_rng", fixed_generator)
        bits.SYSTEM._forget()
        yield
    bits.SYSTEM._forget()
