"""Peers of the learning benchmark: what is missing is said before anything runs."""

import pytest

from benchmarks import learning_peers


def test_a_peer_that_cannot_be_imported_is_named_at_once(monkeypatch):
    monkeypatch.setitem(learning_peers._MODULES, "diffprivlib", "no_such_module_of_a_peer")
    with pytest.raises(SystemExit, match=r"diffprivlib .*installed-bench.*--only"):
        learning_peers.check_peers(["scikit-learn, not private", "diffprivlib"])


def test_peers_that_are_there_pass():
    learning_peers.check_peers(["scikit-learn, not private"])


def test_every_peer_is_checked():
    assert {whose for whose, _ in learning_peers.PEERS.values()} == set(learning_peers._MODULES)
