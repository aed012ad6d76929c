"""The owner's log: for the owner alone, by session, and never in the way."""

import logging
import threading

from deniable.release.session.owner_log import log_to

LOG = logging.getLogger("deniable.engine")


def test_each_session_has_its_own_file(tmp_path):
    first, two = tmp_path / "one.log", tmp_path / "two.log"
    with log_to(first):
        LOG.error("first")
        with log_to(two):
            LOG.error("second\nline")
        LOG.error("third")
    LOG.error("nobody's")
    assert [line.split(" ", 1)[1] for line in first.read_text().splitlines()] == [
        "first",
        "third",
    ]
    assert two.read_text().endswith(" second line\n")  # one line each
    assert first.stat().st_mode & 0o777 == 0o600


def test_threads_do_not_mix(tmp_path):
    barrier = threading.Barrier(4)

    def ask(i):
        with log_to(tmp_path / f"{i}.log"):
            barrier.wait(timeout=30)
            LOG.error("number %s", i)
            barrier.wait(timeout=30)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    for i in range(4):
        (line,) = (tmp_path / f"{i}.log").read_text().splitlines()
        assert line.endswith(f"number {i}")


def test_a_log_that_cannot_be_written_changes_nothing(tmp_path):
    with log_to(tmp_path / "absent" / "x.log"):
        LOG.error("lost")


def test_without_a_log_nothing_is_printed(capfd):
    with log_to(None):
        LOG.error("for nobody")
    assert capfd.readouterr().err == ""
