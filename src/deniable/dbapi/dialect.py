"""The dialect `deniable` of SQLAlchemy, for pandas, Superset and whatever else uses it.

    create_engine("deniable:////data/hospital/deniable.toml")
    create_engine("deniable://host/hospital", connect_args={"token": "dnb_..."})

A token may also be the password of the address, which SQLAlchemy does not print. Listing tables
and columns costs nothing: they are public.
"""

from typing import Any

from sqlalchemy import types
from sqlalchemy.engine import URL
from sqlalchemy.engine.default import DefaultDialect

from deniable.errors import InvalidParameter

_TYPES: dict[str, Any] = {
    "integer": types.BigInteger,
    "number": types.Float,
    "boolean": types.Boolean,
    "date": types.Date,
    "timestamp": types.DateTime,
    "text": types.Text,
}
_SCHEMA = "main"
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")  # where https protects nothing


class DeniableDialect(DefaultDialect):
    """How SQLAlchemy talks to Deniable."""

    name = driver = "deniable"
    supports_statement_cache = True
    supports_native_boolean = True
    supports_sane_rowcount = False
    supports_default_values = False
    default_paramstyle = "qmark"
    default_schema_name = _SCHEMA

    @classmethod
    def import_dbapi(cls) -> Any:
        """The driver."""
        from deniable import dbapi

        return dbapi

    def create_connect_args(self, url: URL) -> Any:
        """The arguments of `dbapi.connect` for an address."""
        options = {name: value for name, value in url.query.items() if name == "key"}
        if set(url.query) - {"key"}:
            raise InvalidParameter(
                "An address may have ?key=... and nothing else. Give other options in "
                "connect_args."
            )
        if not url.host:
            return [url.database or "deniable.toml"], {}
        if url.password is not None:
            options["token"] = url.password
        scheme = "http" if url.host in _THIS_MACHINE else "https"
        host = f"[{url.host}]" if ":" in url.host else url.host
        port = f":{url.port}" if url.port else ""
        return [f"{scheme}://{host}{port}/{url.database or ''}"], options

    def initialize(self, connection: Any) -> None:
        """Nothing is asked when a connection is made."""

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Whether a connection can be used; asks nothing."""
        return not dbapi_connection.closed

    def get_isolation_level(self, dbapi_connection: Any) -> Any:
        """There are no transactions."""
        return "AUTOCOMMIT"

    def get_schema_names(self, connection: Any, **_: Any) -> list[str]:
        """The one schema."""
        return [_SCHEMA]

    def get_table_names(
        self, connection: Any, schema: str | None = None, **_: Any
    ) -> list[str]:
        """The tables of the policy."""
        return list(_tables(connection))

    def has_table(
        self, connection: Any, table_name: str, schema: str | None = None, **_: Any
    ) -> bool:
        """Whether the policy has a table."""
        return table_name in _tables(connection)

    def get_columns(
        self, connection: Any, table_name: str, schema: str | None = None, **_: Any
    ) -> Any:
        """The columns of a table and their types, as the policy declares them."""
        return [
            {
                "name": name,
                "type": _TYPES.get(str(getattr(column, "kind", "")), types.Text)(),
                "nullable": True,
                "default": None,
            }
            for name, column in _tables(connection)[table_name].columns.items()
        ]

    def get_pk_constraint(
        self, connection: Any, table_name: str, schema: str | None = None, **_: Any
    ) -> Any:
        """None is known."""
        return {"constrained_columns": [], "name": None}

    def _nothing(self, connection: Any, *_: Any, **__: Any) -> Any:
        return []

    get_foreign_keys = get_indexes = get_unique_constraints = get_check_constraints = _nothing
    get_view_names = get_temp_table_names = get_temp_view_names = _nothing


def _tables(connection: Any) -> Any:
    """The tables of the policy behind an SQLAlchemy connection."""
    return connection.connection.dbapi_connection.session.policy.tables
