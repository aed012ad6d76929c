"""What the owner declares: tables, privacy units, bounds, keys and a budget.

Everything in a policy is public. It decides the plan and the cost of a question before a row
is read. So its error messages quote what they found, and name the line of the file.
"""

from deniable.policy.column import Column, Keys, KeyValue, Kind
from deniable.policy.policy import Policy
from deniable.policy.table import Table

__all__ = ["Column", "KeyValue", "Keys", "Kind", "Policy", "Table", "load", "parse"]


def load(path: str) -> Policy:
    """The policy in a file. Sources are relative to the file's folder."""
    from deniable.policy.file import load as load_file  # importing pydantic is slow

    return load_file(path)


def parse(text: str, name: str = "deniable.toml") -> Policy:
    """The policy in TOML text.

    >>> policy = parse('''
    ... [budget]
    ... epsilon = 3
    ... [tables.visits]
    ... source = "visits.parquet"
    ... ''')
    >>> policy.epsilon, policy.tables["visits"].neighbors
    (Fraction(3, 1), 'add-remove')
    """
    from deniable.policy.file import parse as parse_file

    return parse_file(text, name)
