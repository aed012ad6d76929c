"""A first draft of a policy, from names and types alone.

What only the owner can know is marked FILL IN, and a policy with such a mark cannot be used.
Columns start without bounds and keys, so nothing about their values can be asked until the
owner has said what is public about them.
"""

from collections.abc import Mapping

from deniable.policy.addresses import is_address
from deniable.policy.value_kinds import integral, kind_of_type

MARK = "FILL IN"

_HEAD = """\
# A policy: what is public about the data, and how much may be told about anybody in it.
# Drafted from names and types alone: no value was read. Decide everything below without
# looking at the data, since whatever stands here is treated as public knowledge.
# This policy can be used once every "{mark}" is replaced.

[budget]
epsilon = "{mark}" # for all questions together, for example 1: the smaller, the safer
delta = 0 # above 0 for private keys, well below 1 / (number of people), such as 1e-6
# filters = ["pure", "zcdp", "gdp"] # with a delta: many small questions then cost less
# schedule = {{ start = 2026-01-01, every = 30, epsilon = 0.1, times = 12 }} # to grow so

# [analysts.ann] # what each analyst may learn, within the budget; "*" is anybody else
# epsilon = 0.5

# [ledger] # where what was spent is kept, unless in a file beside this one
# store = "postgresql://ledger@host/database"
"""

_TABLE = """
[tables.{name}]
source = {source}
unit = "{mark}" # the column that tells people apart; without this line each row is a person
neighbors = "add-remove" # or "replace": what is hidden is a unit's presence, or its values
# max_groups_per_unit = 1 # in how many groups of an answer one unit may count
# max_rows_per_unit_per_group = 1 # and with how many rows in each
# expected_rows = 100000 # a public guess, used to foretell margins

[tables.{name}.columns]
"""


def draft(tables: Mapping[str, Mapping[str, str]], sources: Mapping[str, str]) -> str:
    """The text of a policy about these tables: columns and types, and where they are.

    >>> text = draft({"visits": {"cost": "DOUBLE"}}, {"visits": "visits.parquet"})
    >>> print(text.splitlines()[-1])
    # cost = { bounds = [0, 100], step = 0.01 } # DOUBLE: to be summed
    """
    parts = [_HEAD.format(mark=MARK)]
    for name, schema in tables.items():
        head = _TABLE.format(name=_key(name), source=_text(sources[name]), mark=MARK)
        file = "" if is_address(sources[name]) else sources[name].lower()
        untyped = file.endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz"))
        lines = [_column(column, type_, untyped) for column, type_ in schema.items()]
        parts.append(head + "\n".join(lines) + "\n")
    return "".join(parts)


def _column(name: str, type_: str, untyped: bool) -> str:
    """One line, commented out; its figures are examples and come from no row."""
    key, kind = _key(name), kind_of_type(type_)
    if untyped:
        example = '{ kind = "text" }'
        return (
            f"# {key} = {example} # or bounds = [0, 100] if it is a number, or keys to group by"
        )
    if kind == "number":
        step = 1 if integral(type_) else 0.01
        return f"# {key} = {{ bounds = [0, 100], step = {step} }} # {type_}: to be summed"
    if kind == "boolean":
        return f"# {key} = {{ keys = [true, false] }} # {type_}: to group by"
    if kind == "date":
        return f'# {key} = {{ keys = "private" }} # {type_}: to group by'
    if kind == "text":
        return f'# {key} = {{ keys = ["A", "B"] }} # {type_}: to group by; or keys = "private"'
    return f"# {key} # {type_}: cannot be asked about"


def _key(name: str) -> str:
    """A name as a key of TOML."""
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else _text(name)


def _text(value: str) -> str:
    """Text in TOML."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    shown = "".join(one if one.isprintable() else f"\\U{ord(one):08X}" for one in escaped)
    return f'"{shown}"'
