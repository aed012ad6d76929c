import os
import signal
import threading
from pathlib import Path

import pytest

import deniable as dp
from deniable.surveys.collect.passes import signing_worker
from deniable.surveys.collect.passes.pass_keys import SecretPassKey
from deniable.surveys.collect.passes.signer import PassSigner


@pytest.fixture
def signer():
    with PassSigner(SecretPassKey.new()) as opened:
        yield opened


def test_many_threads_get_their_own_signatures(signer):
    good = []

    def work():
        waiting = signer.key.blind()
        good.append(signer.key.finish(waiting, signer.sign(waiting.blinded)))

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({ticket.hash for ticket in good}) == 16


def test_a_process_that_died_is_started_again(signer):
    waiting = signer.key.blind()
    first = signer.sign(waiting.blinded)
    os.kill(signer._process.pid, signal.SIGKILL)
    signer._process.wait()
    assert signer.sign(waiting.blinded) == first


def test_a_process_that_cannot_start_is_an_error(signer, monkeypatch, tmp_path):
    monkeypatch.setattr(
        "deniable.surveys.collect.passes.signing_worker.__file__", str(tmp_path / "gone.py")
    )
    with pytest.raises(dp.CollectionUnavailable, match="not used up"):
        signer.sign(signer.key.blind().blinded)


def test_the_process_has_nothing_of_ours(signer, monkeypatch):
    monkeypatch.setenv("DENIABLE_SECRET", "x")
    signer.sign(signer.key.blind().blinded)
    environment = Path(f"/proc/{signer._process.pid}/environ").read_bytes()
    assert b"DENIABLE_SECRET" not in environment
    assert all(signer._secret.line not in part for part in signer._process.args)


@pytest.mark.parametrize("blinded", [b"", bytes(256), b"\xff" * 256, b"\x01" * 255])
def test_what_is_no_blinded_pass_is_refused_before_any_process_starts(signer, blinded):
    with pytest.raises(dp.InvalidData, match="not a blinded pass"):
        signer.sign(blinded)
    assert signer._process is None


def test_a_process_that_never_answers_is_ended(tmp_path, monkeypatch):
    deaf = tmp_path / "deaf.py"
    deaf.write_text("import sys\nsys.stdin.read()\n")
    monkeypatch.setattr(signing_worker, "__file__", str(deaf))
    with PassSigner(SecretPassKey.new(), limit=0.01) as signer:
        with pytest.raises(dp.CollectionUnavailable, match="not used up"):
            signer.sign(signer.key.blind().blinded)
        monkeypatch.undo()
        signer._limit = 60
        waiting = signer.key.blind()
        assert signer.key.is_valid(signer.key.finish(waiting, signer.sign(waiting.blinded)))
