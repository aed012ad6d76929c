import base64

import pytest

from deniable.app.server.accounts.one_time_codes import code_at, make_secret, matching_step

SECRET = base64.b32encode(b"12345678901234567890").decode()


@pytest.mark.parametrize(
    ("seconds", "code"),
    [(59, "287082"), (1111111109, "081804"), (1234567890, "005924"), (20000000000, "353130")],
)
def test_the_codes_are_those_of_the_rfc(seconds, code):
    assert code_at(SECRET, seconds // 30) == code
    assert matching_step(SECRET, code, seconds=seconds, last=0) == seconds // 30


def test_a_code_is_valid_for_three_half_minutes():
    code = code_at(SECRET, 1000)
    steps = [
        matching_step(SECRET, code, seconds=30 * step, last=0) for step in range(997, 1004)
    ]
    assert steps == [None, None, 1000, 1000, 1000, None, None]


def test_a_code_works_once_and_no_earlier_one_works_after_it():
    for last, works in [(998, True), (1000, False), (1001, False)]:
        step = matching_step(SECRET, code_at(SECRET, 1000), seconds=30_000, last=last)
        assert (step == 1000) is works


@pytest.mark.parametrize("code", ["", "28708", "2870820", "٢٨٧٠٨٢", "\ud800"])
def test_anything_else_is_no_code(code):
    assert matching_step(SECRET, code, seconds=59, last=0) is None


def test_secrets_differ():
    assert len({make_secret() for _ in range(100)}) == 100
