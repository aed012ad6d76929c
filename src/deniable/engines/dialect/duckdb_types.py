"""Names of DuckDB's types, without the data that some of them hold, and how columns of them are
read: without values so long that a function of them could fail."""

from deniable.engines.handover.long_texts import LONGEST_LIST, LONGEST_TEXT


def type_name(type_: str) -> str:
    """A type as DuckDB names it. The type of an ENUM lists its values, which are data, so they
    are left out; so is all that a nested type holds, except a list of plain values.

    >>> type_name("ENUM('a', 'b')"), type_name("ENUM('a')[]"), type_name("DECIMAL(9,2)")
    ('ENUM', 'ENUM[]', 'DECIMAL(9,2)')
    >>> type_name("VARCHAR[][]"), type_name("INTEGER[3]"), type_name("STRUCT(a INTEGER)[]")
    ('LIST', 'LIST', 'LIST')
    """
    if type_.endswith("]"):
        inside = type_name(type_.removesuffix("[]")) if type_.endswith("[]") else "LIST"
        plain = "]" not in inside and inside not in ("LIST", "STRUCT", "MAP", "UNION")
        return f"{inside}[]" if plain else "LIST"
    name = type_.partition("(")[0]
    return type_ if name == "DECIMAL" else name


def shorten(column: str, type_: str, collation: str = "") -> str | None:
    """A column without long texts, and with the beginnings of lists; None for one that needs no
    change. `collation` is written behind a text. JSON is the text that it was read from.

    >>> print(shorten("ward", "VARCHAR"))
    CASE WHEN strlen(ward) <= 65536 THEN ward END AS ward
    >>> print(shorten("scores", "DOUBLE[]"))
    scores[1:1000] AS scores
    """
    if type_ in ("VARCHAR", "JSON"):
        text = column if type_ == "VARCHAR" else f"CAST({column} AS VARCHAR)"
        return f"{_short(text, collation)} AS {column}"
    if not type_name(type_).endswith("[]"):
        return None
    first = f"{column}[1:{LONGEST_LIST}]"
    if type_ in ("VARCHAR[]", "JSON[]"):
        element = "e" if type_ == "VARCHAR[]" else "CAST(e AS VARCHAR)"
        first = f"list_transform({first}, lambda e: {_short(element, collation)})"
    return f"{first} AS {column}"


def _short(text: str, collation: str) -> str:
    return f"CASE WHEN strlen({text}) <= {LONGEST_TEXT} THEN {text}{collation} END"
