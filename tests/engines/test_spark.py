"""Spark, in this process and through Spark Connect: the contract, with ANSI mode on and off."""

import contextlib
from typing import ClassVar

import pyarrow.parquet
import pytest

from deniable.engines.spark import Spark
from tests.engines.contract import EngineContract
from tests.engines.sparks import local

pytestmark = [pytest.mark.needs("java"), pytest.mark.xdist_group("spark")]


@pytest.fixture(scope="module")
def session():
    with local() as started:
        yield started


class TestSpark(EngineContract):
    """Folders of Parquet, in the mode that Spark 4 starts in."""

    ansi = "true"
    refused: ClassVar[set[str]] = {"functions"}

    @pytest.fixture(autouse=True)
    def _session(self, session, tmp_path):
        self.folder = tmp_path
        session.conf.set("spark.sql.ansi.enabled", self.ansi)

    @contextlib.contextmanager
    def opened(self, tables):
        sources = {}
        for name, table in tables.items():
            (self.folder / name).mkdir()
            half = len(table) // 2
            for part, rows in enumerate((table.slice(0, half), table.slice(half))):
                pyarrow.parquet.write_table(rows, self.folder / name / f"{part}.parquet")
            sources[name] = f"spark://local?parquet={self.folder / name}"
        with Spark.open(sources) as engine:
            yield engine
