"""Where an attack gets its rows: from the owner's frames and files, never from a session.

A policy opens its tables only together with the private key file of its ledger, which the owner
has and an analyst has not. Made-up rows need no key: they follow from the policy alone.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from deniable.errors import InvalidParameter
from deniable.policy import Policy, Table
from deniable.query.plan.quoting import quote_name

_TYPES = {"number": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE"}


@dataclass(frozen=True, slots=True, repr=False)
class OwnedRows:
    """All rows of a table, and what is declared about it. Private, unless they are made up."""

    rows: "pa.Table"
    table: Table
    made_up: bool = False
    beside: tuple[Table, ...] = ()  # the public tables of its policy: questions may join them
    private: tuple[str, ...] = ()  # the names of the other private tables of its policy

    def __repr__(self) -> str:
        return f"<rows of {self.table.name}>" if not self.made_up else "<made-up rows>"

    def __reduce__(self) -> str:
        raise TypeError("Rows of an attack cannot be pickled: they are exact.")


def read_owned(source: Any, *, table: str | None = None, **declared: Any) -> OwnedRows:
    """The rows of a frame, of a data file, or of a table of a policy file (.toml).

    `declared` is what `dp.protect` takes: `unit`, `bounds`, `keys` and so on. A policy file
    declares that itself, and its private key file must be there. `table` is the name of the
    table: one of the policy's, or how questions call a frame.
    """
    if isinstance(source, OwnedRows):
        return source
    if isinstance(source, str | Path):
        if str(source).endswith(".toml"):
            return _read_policy(str(source), table, declared)
        return _declare(_read_file(str(source)), table, declared)
    from deniable.engines.duckdb.frames import is_frame, to_arrow

    if _is_session(source) or not is_frame(source):
        raise InvalidParameter(
            "An attack takes the owner's own rows: a frame, a data file, or the policy file "
            "(.toml) whose private key file is at hand. It never takes a session, because a "
            f"session gives private answers only. Found {type(source).__name__}."
        )
    return _declare(to_arrow(source), table, declared)


def made_up(policy: str | Path | Policy, *, table: str | None = None) -> OwnedRows:
    """Made-up rows that fit a policy, for pages that may be shown around. Reads no row.

    >>> visits = Table.declare("visits", bounds={"cost": (0, 99)}, keys={"ward": ["A", "B"]})
    >>> made_up(Policy([visits], epsilon=1)).rows.num_rows
    1000
    """
    from deniable.engines.rehearsal import make_tables
    from deniable.policy import load

    declared = policy if isinstance(policy, Policy) else load(str(policy))
    own_table = _choose_table(declared, table)
    public = [public_table for public_table in declared.tables.values() if public_table.public]
    rows = make_tables(Policy([own_table, *public], epsilon=1))
    public_tables = tuple(
        _with_rows(public_table, rows[public_table.name]) for public_table in public
    )
    return OwnedRows(
        rows[own_table.name], own_table, True, public_tables, _list_private(declared, own_table)
    )


def _is_session(source: object) -> bool:
    from deniable.release.session.door import Door
    from deniable.release.session.release import Release

    return isinstance(source, Door | Release)


def _read_file(source: str) -> "pa.Table":
    from deniable.engines.duckdb.owner_rows import read_rows

    if source.lower().endswith((".csv", ".csv.gz", ".tsv")):
        import pyarrow.csv

        options = pyarrow.csv.ParseOptions(delimiter="\t" if ".tsv" in source else ",")
        try:
            return pyarrow.csv.read_csv(source, parse_options=options)
        except (OSError, pa.ArrowInvalid):
            raise InvalidParameter(f"{source!r} cannot be read as a CSV file.") from None
    return read_rows(source)


def _read_policy(path: str, name: str | None, declared: dict[str, Any]) -> OwnedRows:
    from deniable.engines.opening import engine_of, read_schemas
    from deniable.policy import load
    from deniable.policy.file import name_line_in_errors

    if declared:
        raise InvalidParameter(
            f"A policy file declares its tables itself: leave out {', '.join(declared)}."
        )
    with name_line_in_errors(path):
        policy = load(path)
        _check_key(policy)
        table = _choose_table(policy, name)
        schema = read_schemas({table.name: table.source})[table.name]
        completed = table.with_schema(schema)
        rows = _read_source(table)
        public = [
            public_table for public_table in policy.tables.values() if public_table.public
        ]
        public_tables = tuple(
            public_table
            if engine_of(public_table.source) == "duckdb"
            else _with_rows(public_table, _read_source(public_table))
            for public_table in public
        )
    private = _list_private(policy, table)
    return OwnedRows(_cast(rows, completed), completed, False, public_tables, private)


def _read_source(table: Table) -> "pa.Table":
    """All rows of a table of a policy, wherever they are."""
    from deniable.engines.opening import engine_of

    engine = engine_of(table.source)
    if engine == "duckdb":
        from deniable.engines.duckdb.owner_rows import read_rows

        return read_rows(table.source, name=table.name, malformed=table.malformed)
    if engine == "spark":
        raise InvalidParameter(
            f"Table {table.name!r} is in Spark, whose tables may be too large for one machine, "
            "and attacks need all rows in memory. Write some columns and rows to a Parquet "
            "file, and attack that."
        )
    if engine == "postgresql":
        from deniable.engines.postgresql.owner_rows import read_rows as read_stored
    else:
        from deniable.engines.ibis.owner_rows import read_rows as read_stored
    return read_stored(str(table.source), name=table.name)


def _check_key(policy: Policy) -> None:
    """Refuses a policy without the private key that signs its ledger."""
    from deniable.ledger.durable_ledger import default_key_path
    from deniable.ledger.stores.signing_keys import SigningKey

    if policy.ledger is None:
        return _refuse_key("its ledger is in memory and has no key file")
    path = Path(policy.ledger_key or default_key_path(policy.ledger))
    if not path.exists():
        return _refuse_key(f"{str(path)!r} does not exist")
    key, public = SigningKey.read(path), Path(f"{path}.pub")
    if public.is_file() and public.read_text(encoding="ascii").strip() != key.public:
        _refuse_key(f"{str(path)!r} does not belong to {public.name!r}")
    return None


def _refuse_key(why: str) -> None:
    raise InvalidParameter(
        "Only the owner may attack the tables of a policy, and shows it by the private key "
        f"file of the policy's ledger: {why}. Give the data file itself, or use made-up rows."
    )


def _choose_table(policy: Policy, name: str | None) -> Table:
    private = {
        table_name: table for table_name, table in policy.tables.items() if not table.public
    }
    if name is None and len(private) == 1:
        return next(iter(private.values()))
    if name is None or name not in private:
        listed = ", ".join(private)
        raise InvalidParameter(f"Name one table with `table`. The private ones are: {listed}.")
    return private[name]


def _list_private(policy: Policy, own_table: Table) -> tuple[str, ...]:
    """The names of the other private tables."""
    tables = policy.tables.items()
    return tuple(name for name, table in tables if not table.public and name != own_table.name)


def _with_rows(table: Table, rows: "pa.Table") -> Table:
    """A public table whose rows are here."""
    return Table(table.name, rows, columns=table.columns, unique=table.unique, public=True)


def _declare(rows: "pa.Table", name: str | None, declared: dict[str, Any]) -> OwnedRows:
    from deniable.engines.opening import read_schemas

    table = Table.declare(name or "data", rows, **declared)
    return OwnedRows(rows, table.with_schema(read_schemas({table.name: rows})[table.name]))


def _is_text(kind: Any) -> bool:
    kinds = pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view
    return any(is_kind(kind) for is_kind in kinds)


def _cast(rows: "pa.Table", table: Table) -> "pa.Table":
    """The rows in the kinds that the policy declares: all columns of a CSV file are text. Units
    stay text, because two large integers may have the same double."""
    from deniable.engines.duckdb.public_rows import query_rows

    selected = [
        f"TRY_CAST({quote_name(name)} AS {_TYPES[kind]}) AS {quote_name(name)}"
        if (kind := table.columns[name].kind) in _TYPES
        and _is_text(field.type)
        and name != table.unit
        else quote_name(name)
        for name, field in ((field.name, field) for field in rows.schema)
    ]
    return query_rows({"t": rows}, f"SELECT {', '.join(selected)} FROM t")
