from deniable.query.relations.function_table import FUNCTIONS
from tests.engines.uses import UsesContract
from tests.query.relations.test_function_table import USES
from tools.pages import functions


def test_every_function_is_listed_with_its_engines():
    (page,) = functions.write_pages().values()
    assert set(USES) == set(FUNCTIONS) - {"outside"}
    for uses in USES.values():
        for use in uses:
            assert f"| `{use.replace('|', chr(92) + '|')}` | yes |" in page


def test_ticks_are_those_that_the_engine_contract_asserts():
    every = [use for uses in USES.values() for use in uses]
    for engine in ("Spark", "PostgreSQL"):
        refused = {use for use in every if not functions.can_write(engine, use)}
        assert refused == UsesContract.refused_uses & set(every), engine
