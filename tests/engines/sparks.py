"""Spark for tests: small, silent, and bound to this machine."""

import contextlib
import warnings

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "America/New_York",  # which must make no difference
    "spark.sql.adaptive.enabled": "false",
}


@contextlib.contextmanager
def local():
    """A session in this process, stopped with its Java process afterwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the version of pandas
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]")
        for key, value in SETTINGS.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        import pyspark.testing.utils  # noqa: F401
    try:
        yield session
    finally:
        session.stop()
