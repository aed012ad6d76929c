import threading

import pytest
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

import deniable as dp
from deniable.app.server.accounts.passwords import Passwords


def test_the_hash_is_argon2id_with_64_mib_and_its_own_salt():
    passwords = Passwords()
    first, second = (passwords.hash("correct horse") for _ in range(2))
    assert first.startswith("$argon2id$v=19$m=65536,t=3,p=1$")
    assert first != second
    assert passwords.check("correct horse", first)
    assert not passwords.check("correct horsf", first)


@pytest.mark.parametrize("password", ["", "short", "x" * 11, "x" * 257])
def test_a_password_that_is_too_short_or_long_is_refused(passwords, password):
    with pytest.raises(dp.InvalidParameter, match="12 to 256"):
        passwords.hash(password)


def test_letters_may_be_composed_in_two_ways(passwords):
    assert passwords.check("cafe\u0301 au lait", passwords.hash("caf\u00e9 au lait"))


def test_no_stored_password_is_never_right_and_as_much_work(passwords, monkeypatch):
    runs = []
    verify = Argon2id.verify_phc_encoded
    monkeypatch.setattr(
        "deniable.app.server.accounts.passwords.Argon2id.verify_phc_encoded",
        lambda *given: runs.append(given[1]) or verify(*given),
    )
    kept = passwords.hash("correct horse")
    assert not passwords.check("anything at all", None)
    assert not passwords.check("anything at all", kept)
    assert len(runs) == 2
    assert runs[0].rpartition("$")[0].split("$")[:4] == kept.split("$")[:4]  # the same cost


def test_few_run_at_once_and_few_wait(monkeypatch):
    passwords = Passwords(memory=64)
    kept, release, running, peak = passwords.hash("correct horse"), threading.Event(), [], []
    entered = threading.Semaphore(0)

    def slow(password, kept):
        running.append(1)
        peak.append(len(running))
        entered.release()
        release.wait()
        running.pop()
        return True

    monkeypatch.setattr(passwords, "_matches", slow)
    refused = threading.Semaphore(0)
    refusals = []

    def check():
        try:
            passwords.check("correct horse", kept)
        except dp.TooManyQuestions as problem:
            refusals.append(str(problem))
            refused.release()

    threads = [threading.Thread(target=check) for _ in range(30)]
    for thread in threads:
        thread.start()
    for _ in range(12):  # 30 less the two that run and the sixteen that wait
        refused.acquire()
    for _ in range(2):
        entered.acquire()
    release.set()
    for thread in threads:
        thread.join()
    assert len(refusals) == 12
    assert max(peak) == 2
