"""Sessions of Spark in processes of their own: the driver killed, Connect, and no Java."""

import contextlib
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pyarrow.parquet
import pytest

from deniable.engines.spark_session import _check_java, is_spark, session_of
from deniable.errors import InvalidPolicy, MissingExtra
from tests.engines.contract import within_limits
from tests.engines.sparks import SETTINGS

pytestmark = pytest.mark.xdist_group("spark")
PATIENCE = 400  # seconds, after which a process that hangs is ended and the test fails

KILLED = """
import os, signal, sys
import deniable as dp
from deniable.engines import spark
from pyspark import SparkContext

visits = dp.protect("spark://local?parquet=" + sys.argv[1], name="visits", epsilon=3)
ask = "SELECT COUNT(*) AS n FROM visits"
assert visits.sql(ask, epsilon=1).to_arrow().num_rows == 1
watched = spark.watched

def killing(session, tell):
    spark.watched = watched
    os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)  # planned, and not yet answered
    SparkContext._gateway.proc.wait(60)
    return watched(session, tell)

spark.watched = killing
try:
    visits.release(visits.plan(ask, epsilon=1), fresh=True)
except dp.EngineFailed as failure:
    assert str(failure) == str(dp.EngineFailed(failure.reference)), failure
    assert failure.__cause__ is None and failure.__context__ is None
else:
    raise AssertionError("the driver was not killed")
assert visits.remaining.epsilon == 1, visits.remaining
assert visits.release(visits.plan(ask, epsilon=1), fresh=True).to_arrow().num_rows == 1
assert visits.remaining.epsilon == 0
visits.close()
print("done")
"""

CONNECTED = """
import sys
import deniable as dp
from deniable.engines.duckdb import DuckDB
from deniable.engines.spark import Spark
from tests.engines.contract import CASES, parse, plan, read, same, within_limits

chosen = {"average", "filters", "private_keys", "variance", "quantiles"}
plans = {p.stem: plan(parse(sql), its, epsilon=0.5) for p in CASES if p.stem in chosen
         for its, sql in [read(p)]}
source = f"spark://127.0.0.1:{sys.argv[2]}?parquet={sys.argv[1]}"
seen = []
known = DuckDB.open({"visits": within_limits()})
with Spark.open({"visits": source}) as engine:
    engine.progress = seen.append
    same(engine, known, plans)
    frame = engine._connected().read.parquet(sys.argv[1])
    assert seen and seen[-1] == 1.0 and all(0 <= one <= 1 for one in seen), seen
    with Spark.open({"visits": frame}) as again:
        same(again, known, {"average": plans["average"]})
    assert "connect" in type(engine._connected()).__module__
print("done")
"""


def ran(script, *arguments):
    """Runs a script in a process of its own, with a bound; its output."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    environment["PYSPARK_SUBMIT_ARGS"] = "--driver-memory 1g pyspark-shell"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=environment,
        cwd=root,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "visits").mkdir()
    pyarrow.parquet.write_table(within_limits(), tmp_path / "visits" / "0.parquet")
    return tmp_path / "visits"


@pytest.mark.needs("java")
def test_the_driver_is_killed_and_the_next_question_is_served(folder):
    assert "done" in ran(KILLED, folder)


@contextlib.contextmanager
def connect_server(folder):
    """A Spark Connect server on a free port of this machine; ended by its process."""
    import pyspark

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = SETTINGS | {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.artifact.isolation.enabled": "false",
    }
    options = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    home = Path(pyspark.__file__).parent
    command = [home / "bin" / "spark-submit", "--master", "local[2]", *options]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_NO_DAEMONIZE": "1"}
    process = subprocess.Popen(
        [*command, "spark-internal"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=folder,
    )
    try:
        yield port
    finally:
        process.kill()
        process.wait(60)


@pytest.mark.needs("java")
def test_connect_gives_the_same_integers_and_tells_its_progress(folder, tmp_path):
    with connect_server(tmp_path) as port:
        assert "done" in ran(CONNECTED, folder, port)


@pytest.mark.parametrize(
    ("version", "told"),
    [(None, "none was found"), ("1.8.0_392", "Java 8 was found"), ("11.0.2", "Java 11 was")],
)
def test_no_java_is_one_sentence(version, told, tmp_path, monkeypatch):
    if version is not None:
        (tmp_path / "bin").mkdir()
        program = tmp_path / "bin" / "java"
        program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingExtra, match=told) as missing:
        _check_java()
    assert "default-jre-headless" in str(missing.value)
    assert str(missing.value).count("\n") == 0


def test_tables_are_in_one_session():
    two = {"a": "spark://local#a", "b": "spark://elsewhere.example.org:15002#b"}
    with pytest.raises(InvalidPolicy, match="one session"):
        session_of(two)
    assert not is_spark("spark://local")
