"""A first draft of a policy, from the names and types of columns.

What only the owner can know is marked FILL IN, and a policy with such a mark is refused.
Columns start without bounds and keys, so questions cannot use their values until the owner
declares what is public about them.
"""

from collections.abc import Mapping

from deniable.policy.column import is_integer_type, kind_of_type
from deniable.policy.list_types import element_type
from deniable.policy.source_addresses import is_untyped

MARK = "FILL IN"

_HEAD = """\
# A policy: what is public about the data, and how much may be learned about a person in it.
# Drafted from the names and types of columns: no value was used. Decide everything below
# without looking at the data, because everything in this file counts as public.
# Replace every "{mark}" before you use this policy.

format = 1 # of this file

[budget]
epsilon = "{mark}" # for all questions together, for example 1; smaller is safer
delta = 0 # above 0 for private keys: well below 1 / (number of people), such as 1e-6
# filters = ["pure", "zcdp", "gdp"] # needs a delta; many small questions then cost less
# schedule = {{ start = 2026-01-01, every = 30, epsilon = 0.1, times = 12 }} # more over time

# [analysts.ann] # a limit for one analyst, within the budget; "*" means all others
# epsilon = 0.5

[ledger] # where charges are recorded; by default a file next to this one
# store = "postgresql://ledger@host/database#schema"
"""

_TABLE = """
[tables.{name}]
source = {source}
unit = "{mark}" # the column that identifies a person; without this line each row is a person
neighbors = "add-remove" # hides whether a unit is in the data; "replace" hides its values
# max_groups_per_unit = 1 # the most groups of an answer in which one unit counts
# max_rows_per_unit_per_group = 1 # the most rows of one unit that count in each group
# expected_rows = 100000 # a public guess, only used to predict margins

[tables.{name}.columns]
"""


def draft(tables: Mapping[str, Mapping[str, str]], sources: Mapping[str, str]) -> str:
    """The text of a policy for these tables: from their columns, types and sources.

    >>> text = draft({"visits": {"cost": "DOUBLE"}}, {"visits": "visits.parquet"})
    >>> print(text.splitlines()[-1])
    # cost = { bounds = [0, 100], step = 0.01 } # DOUBLE: for sums
    """
    return _HEAD.format(mark=MARK) + draft_tables(tables, sources)


def draft_tables(tables: Mapping[str, Mapping[str, str]], sources: Mapping[str, str]) -> str:
    """The part of a policy about these tables.

    >>> draft_tables({"visits": {}}, {"visits": "visits.csv"}).splitlines()[1]
    '[tables.visits]'
    """
    parts = []
    for name, schema in tables.items():
        head = _TABLE.format(name=_key(name), source=_text(sources[name]), mark=MARK)
        untyped = is_untyped(sources[name])
        lines = [_column(column, type_, untyped) for column, type_ in schema.items()]
        parts.append(head + "\n".join(lines) + "\n")
    return "".join(parts)


def _column(name: str, type_: str, untyped: bool) -> str:
    """One line, commented out. Its values are examples and do not come from the data."""
    key, kind = _key(name), kind_of_type(type_)
    if untyped:
        example = '{ kind = "text" }'
        return (
            f"# {key} = {example} # or bounds = [0, 100] if it is a number, or keys for groups"
        )
    if kind == "number":
        step = 1 if is_integer_type(type_) else 0.01
        return f"# {key} = {{ bounds = [0, 100], step = {step} }} # {type_}: for sums"
    if kind == "boolean":
        return f"# {key} = {{ keys = [true, false] }} # {type_}: for groups"
    if kind == "date":
        return f'# {key} = {{ keys = "private" }} # {type_}: for groups'
    if kind == "text":
        return f'# {key} = {{ keys = ["A", "B"] }} # {type_}: for groups; or keys = "private"'
    inside = element_type(type_)
    if inside is not None and kind_of_type(inside) in ("number", "text", "boolean"):
        element = (
            _column(name, inside, untyped).partition(" # ")[0].replace("{", "{ length = 5,")
        )
        return f"{element} # {type_}: for UNNEST, which takes 5 elements of a list"
    return f"# {key} # {type_}: not supported in questions"


def _key(name: str) -> str:
    """A name as a TOML key."""
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else _text(name)


def _text(value: str) -> str:
    """Text as a TOML string."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    printable = "".join(
        character if character.isprintable() else f"\\U{ord(character):08X}"
        for character in escaped
    )
    return f'"{printable}"'
