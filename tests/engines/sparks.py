"""Spark for tests: small, silent, and bound to this machine."""

import contextlib
import os
import subprocess
import sys
import tempfile
import textwrap
import warnings
from pathlib import Path

PATIENCE = 400  # seconds, after which a process that hangs is ended and the test fails

# Tests start Java often and run each statement once: the better compiler costs more than it
# gains, more than twofold. Room for young objects, class data and compiled code saves a tenth
# of the processor time: without it Java collects garbage four times as often.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms1g -Xmn600m"
JAVA += " -XX:MetaspaceSize=256m -XX:ReservedCodeCacheSize=256m"
JAVA += " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"  # as they were built

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": JAVA,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir()) / "spark-warehouse"),
    "spark.sql.session.timeZone": "America/New_York",  # which must make no difference
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ui.explainMode": "simple",  # each statement is described, though nobody looks
    "spark.sql.debug.maxToStringFields": "1",
    # What Spark remembers of a thousand statements fills its memory, for nobody to look at.
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "100",
    "spark.sql.ui.retainedExecutions": "10",
    # A Spark Connect server in the same Java process, on a port that the system chooses.
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.sql.artifact.isolation.enabled": "false",
}
# What a script sets, too, that runs few statements in a process of its own.
QUICK = ["spark.sql.shuffle.partitions", "spark.sql.adaptive.enabled"]


@contextlib.contextmanager
def local(*, long=False):
    """A session in this process, stopped with its Java process afterwards. A long one gets
    the better compiler."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the version of pandas
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]")
        for key, value in SETTINGS.items():
            builder = builder.config(key, value)
        if long:
            options = JAVA.replace("-XX:TieredStopAtLevel=1 ", "")
            builder = builder.config("spark.driver.extraJavaOptions", options)
        session = builder.getOrCreate()
        import pyspark.testing.utils  # noqa: F401
    try:
        yield session
    finally:
        session.stop()


def connect_port(session):
    """The port of the Spark Connect server beside a session of this process."""
    service = "org.apache.spark.sql.connect.service.SparkConnectService$"
    server = session._jvm.java.lang.Class.forName(service).getField("MODULE$").get(None)
    return server.localPort()


def ran(script, *arguments):
    """Runs a script in a process of its own, with a bound; its output."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    settings = " ".join(f"--conf {name}={SETTINGS[name]}" for name in QUICK)
    submit = f"--driver-memory 1g --driver-java-options '{JAVA}' {settings} pyspark-shell"
    environment["PYSPARK_SUBMIT_ARGS"] = submit
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
