"""The exceptions of PEP 249, and which of them stands for which of ours.

Each is an error of Deniable too, so `except dp.DeniableError` catches them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from deniable import errors


class Warning(UserWarning):  # the name is PEP 249's
    """Something important, such as a value that was cut. This driver gives none."""


class Error(errors.DeniableError):
    """Any error of the driver."""


class InterfaceError(Error):
    """The driver was used in a wrong way, such as after it was closed."""


class DatabaseError(Error):
    """The question was refused or failed."""


class DataError(DatabaseError):
    """Never raised: values never make an error."""


class OperationalError(DatabaseError):
    """The budget is used up, or ledger or server cannot be used now."""


class IntegrityError(DatabaseError):
    """A certificate or the ledger is not what it should be."""


class InternalError(DatabaseError):
    """The engine failed. The message has a reference for the data owner."""


class ProgrammingError(DatabaseError):
    """The question cannot be read, or cannot be answered privately."""


class NotSupportedError(DatabaseError):
    """What this driver cannot do, such as changing a table."""


_KINDS: tuple[tuple[tuple[type[errors.DeniableError], ...], type[DatabaseError]], ...] = (
    ((errors.EngineFailed,), InternalError),
    ((errors.InvalidCertificate, errors.LedgerBroken), IntegrityError),
    ((errors.Unsupported,), NotSupportedError),
    (
        (
            errors.BudgetExhausted,
            errors.LedgerUnavailable,
            errors.QuestionPending,
            errors.ServerUnavailable,
            errors.AccessDenied,
            errors.TooManyQuestions,
        ),
        OperationalError,
    ),
    ((errors.InvalidQuery, errors.InvalidParameter, errors.PlanRefused), ProgrammingError),
)


@contextmanager
def translating_errors() -> Iterator[None]:
    """PEP 249's exception for ours, with the same words."""
    try:
        yield
    except Error:
        raise
    except errors.DeniableError as problem:
        for kinds, kind in _KINDS:
            if isinstance(problem, kinds):
                raise kind(str(problem)) from problem
        raise DatabaseError(str(problem)) from problem
