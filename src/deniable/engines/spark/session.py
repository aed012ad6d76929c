"""Spark sessions: started in this process, or opened through Spark Connect.

A session that was started here is stopped here. A session that was already running is not.
"""

import contextlib
import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa

from deniable.errors import InvalidPolicy, MissingExtra, Unsupported
from deniable.policy.source_addresses import is_address, read_address

OLDEST_JAVA = 17
_RETRIES: dict[str, Any] = {
    "max_retries": 6,
    "max_backoff": 4000,
}  # about ten seconds, not ten minutes

# For a session that we start. Spark's log may quote rows, so it is off.
_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "OFF",
}


def is_spark_frame(source: object) -> bool:
    """Whether a source is a Spark frame; does not import Spark.

    >>> is_spark_frame("spark://local"), is_spark_frame([1])
    (False, False)
    """
    return type(source).__module__.startswith("pyspark.sql.") and hasattr(
        source, "createOrReplaceTempView"
    )


def session_of(sources: Mapping[str, Any]) -> tuple[Any, bool]:
    """The session of the sources, and whether it was started here."""
    frames = {
        id(source.sparkSession): source for source in sources.values() if is_spark_frame(source)
    }
    clusters = {_cluster_address(source) for source in sources.values() if is_address(source)}
    if len(frames) + len(clusters) != 1:
        raise InvalidPolicy(
            "All tables of a policy must be in one session of Spark: use one address, or "
            "frames of one session."
        )
    if frames:
        return next(iter(frames.values())).sparkSession, False
    return _start_session(clusters.pop())


def _cluster_address(source: str) -> str:
    """The server of an address, with the client settings after it, such as a token."""
    parts = urlsplit(read_address(source).address)
    return parts.netloc + (parts.path if parts.path.startswith("/;") else "")


def _start_session(cluster: str) -> tuple[Any, bool]:
    """The session at an address, and whether it was started here."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the version of pandas, which is not used
            import pyspark.sql.dataframe  # noqa: F401
            from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra(
            "Spark needs the package pyspark. Add it with   pip install 'deniable[spark]'"
        ) from None
    if cluster not in ("", "local"):
        return _connect_session(SparkSession, cluster), True
    if "SPARK_REMOTE" not in os.environ:
        _check_java()
    running = SparkSession.getActiveSession() is not None
    builder: Any = SparkSession.builder
    if cluster == "local" and not running:
        builder = builder.master("local[*]")
        for key, value in _LOCAL.items():
            builder = builder.config(key, value)
    return builder.getOrCreate(), not running


def _connect_session(factory: Any, cluster: str) -> Any:
    token = os.environ.get("DENIABLE_SPARK_TOKEN")
    url = f"sc://{cluster}"
    if token:
        url += (";" if "/;" in cluster else "/;") + f"token={token}"
    try:
        from pyspark.sql.connect.client.retries import DefaultPolicy

        session = factory.builder.remote(url).create()
        session.client.set_retry_policies([DefaultPolicy(**_RETRIES)])
        session.range(1).count()
    except Exception as problem:
        raise InvalidPolicy(
            f"Cannot connect to a Spark Connect server at {_public_host(cluster)} "
            f"({type(problem).__name__}). Check that it runs, and the port and the token."
        ) from None
    return session


def _public_host(cluster: str) -> str:
    """The part of a cluster's address that may be shown."""
    return cluster.partition("/")[0].rpartition("@")[2]


def add_view(session: Any, name: str, rows: "pa.Table") -> None:
    """Makes a temporary view of an Arrow table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the version of pandas, which is not used
        session.createDataFrame(rows).createOrReplaceTempView(name)


def check_functions(session: Any) -> None:
    """Raises Unsupported if the session has a function of its own with the name of one of
    Spark's: our statements could call it instead (in Spark 4.0 always, later by a setting)."""
    own = _show_functions(session, "USER")
    clashes = own & _show_functions(session, "SYSTEM") if own else own
    if clashes:
        raise Unsupported(
            "This Spark session has functions of its own with the names of Spark's functions: "
            f"{', '.join(sorted(clashes))}. Drop them, as in   DROP TEMPORARY FUNCTION "
            f"{min(clashes)}   or use another session. Nothing was spent."
        )


def _show_functions(session: Any, kind: str) -> set[str]:
    rows = session.sql(f"SHOW {kind} FUNCTIONS").collect()
    return {row[0].rpartition(".")[2].lower() for row in rows}


def stop_session(session: Any) -> None:
    """Stops a session. Also works if its driver is dead, so that another can be started."""
    with contextlib.suppress(Exception):
        session.stop()
    if "connect" in type(session).__module__:
        return
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context: Any = SparkContext
    gateway = context._gateway
    process = getattr(gateway, "proc", None)
    if process is not None and process.poll() is not None:  # the Java process is gone
        context._gateway = context._jvm = context._active_spark_context = None
        SparkSession._instantiatedSession = None


def _check_java() -> None:
    """Raises MissingExtra if there is no Java, or one that is too old for Spark."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    version_text = ""
    if java is not None and Path(java).is_file():
        command = [java, "-version"]
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False
        )
        quoted = "".join(re.findall(r'"\d[^"]*"', process.stderr)[:1])
        version_text = re.sub(r'^"1\.', '"', quoted)  # Java 8 calls itself "1.8"
    version = int(re.findall(r"\d+", version_text)[0]) if version_text else 0
    if version >= OLDEST_JAVA:
        return
    description = f"Java {version} was found" if version else "none was found"
    raise MissingExtra(
        f"Spark needs Java {OLDEST_JAVA} or later; {description}. Install it (on Debian   apt "
        "install default-jre-headless) or set JAVA_HOME to its folder."
    )
