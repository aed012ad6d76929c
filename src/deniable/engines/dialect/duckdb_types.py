"""Names of DuckDB's types, without the data that some of them hold."""


def type_name(type_: str) -> str:
    """A type as DuckDB names it. The type of an ENUM lists its values, which are data, so they
    are left out; so is all that a nested type holds.

    >>> type_name("ENUM('a', 'b')"), type_name("ENUM('a')[]"), type_name("DECIMAL(9,2)")
    ('ENUM', 'LIST', 'DECIMAL(9,2)')
    """
    if type_.endswith("]"):
        return "LIST"
    name = type_.partition("(")[0]
    return type_ if name == "DECIMAL" else name
