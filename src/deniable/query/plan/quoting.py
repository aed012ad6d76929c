"""Text and names as SQL writes them."""


def quote_text(value: str) -> str:
    """A text constant.

    >>> quote_text("it's")
    "'it''s'"
    """
    return "'" + value.replace("'", "''") + "'"


def quote_name(name: str) -> str:
    """A name of a table or column.

    >>> quote_name('the "ward"')
    '"the ""ward\"""'
    """
    return '"' + name.replace('"', '""') + '"'


def quote_with_backticks(name: str) -> str:
    """A name of a table or column, as Spark writes it.

    >>> quote_with_backticks("the `ward`")
    '`the ``ward```'
    """
    return "`" + name.replace("`", "``") + "`"
