"""Steps are written before they are shown, and another process's steps are taken over."""

import pyarrow as pa
import pytest

import deniable as dp


def counter(data):
    return data.counter("visits", horizon=9, epsilon=10**6)


def test_what_was_not_written_did_not_happen(monkeypatch):
    data = dp.protect(pa.table({"x": [1]}), epsilon=10**6)
    visits = counter(data)
    visits.step()
    stepping = visits._stepping

    def fail(*_, **__):
        raise RuntimeError("stop")

    with monkeypatch.context() as patch:
        patch.setattr(type(stepping.stored), "add", fail)
        with pytest.raises(RuntimeError):
            visits.step()
    assert visits.steps == 1
    assert stepping.count.steps == 1
    assert counter(data).steps == 1


def test_nothing_is_shown_before_it_is_written(monkeypatch):
    visits = counter(dp.protect(pa.table({"x": [1]}), epsilon=10**6))
    stored, order = visits._stepping.stored, []
    append, step = stored._log.append, type(stored._run).advance
    monkeypatch.setattr(
        stored._log, "append", lambda text: order.append("state") or append(text)
    )

    def advance(*given, **named):
        order.append("ledger")
        return step(*given, **named)

    monkeypatch.setattr(type(stored._run), "advance", advance)
    with visits._stepping.turn():
        record = visits._stepping.end_steps([5])
        order.append(len(visits._stepping.sums))
        visits._stepping.write(record)
        order.append(len(visits._stepping.sums))
    assert order == [0, "state", "ledger", 1]
