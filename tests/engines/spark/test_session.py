"""Sessions of Spark: the driver killed, in a process of its own, and no Java."""

import pyarrow.parquet
import pytest

from deniable.engines.spark.session import _check_java, is_spark_frame, session_of
from deniable.errors import InvalidPolicy, MissingExtra
from tests.engines.contract import within_limits
from tests.engines.sparks import ran

pytestmark = pytest.mark.xdist_group("spark")

KILLED = """
import os, signal, sys
import deniable as dp
from deniable.engines.spark import engine as spark
from pyspark import SparkContext

visits = dp.protect("spark://local?parquet=" + sys.argv[1], name="visits", epsilon=3)
ask = "SELECT COUNT(*) AS n FROM visits"
assert visits.sql(ask, epsilon=1).to_arrow().num_rows == 1
watched = spark.report_progress

def killing(session, tell):
    spark.report_progress = watched
    os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)  # planned, and not yet answered
    SparkContext._gateway.proc.wait(60)
    return watched(session, tell)

spark.report_progress = killing
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


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "visits").mkdir()
    pyarrow.parquet.write_table(within_limits(), tmp_path / "visits" / "0.parquet")
    return tmp_path / "visits"


@pytest.mark.needs("java")
def test_the_driver_is_killed_and_the_next_question_is_served(folder):
    assert "done" in ran(KILLED, folder)


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
    assert not is_spark_frame("spark://local")
