"""PostgreSQL under the neighbour fuzzer."""

import pytest

from tests.engines.neighbors import NeighborContract
from tests.engines.postgresql.test_engine import Stored

pytestmark = [pytest.mark.needs("postgresql"), pytest.mark.xdist_group("postgresql")]


class TestPostgreSQLOnNeighbors(Stored, NeighborContract):
    """The neighbour fuzzer."""
