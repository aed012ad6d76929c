"""Every exception that Deniable raises, in one tree.

    DeniableError
    ├── InvalidParameter (ValueError)   a public parameter that cannot be used
    │   └── MissingRelation             a question that has no answer without `neighbors=`
    ├── InvalidData (ValueError)        data of the wrong shape or kind; never quotes a value
    ├── InvalidPolicy (ValueError)      a policy that contradicts itself or names what is absent
    ├── InvalidCertificate (ValueError) a statement about a release that does not hold
    ├── InvalidQuery (ValueError)       a question not understood, or with no private answer
    │   └── UnboundedColumn             a sum that one person could change by any amount
    ├── BudgetExhausted                 the answer would cost more than is left
    ├── LedgerUnavailable               a ledger that cannot be read or written now
    ├── LedgerBroken                    a ledger that was changed, or belongs to another policy
    ├── EngineFailed                    the one message after an engine has started
    ├── Unsupported                     a sound request that this loss or mechanism cannot serve
    │   └── InvalidStoppingRule         a cost that adaptive releases must not be stopped by
    ├── UsedUp                          a session that has told all that its loss pays for
    └── MissingExtra (ImportError)      an optional package that this needs is not installed

A message says what is wrong, why it matters and how to mend it. Parameters are public, so
their messages quote what was found; messages about data never do.
"""


class DeniableError(Exception):
    """The root: catch this to catch everything that Deniable raises on purpose."""


class InvalidParameter(DeniableError, ValueError):
    """A public parameter (epsilon, sensitivity, a probability) that cannot be used."""


class MissingRelation(InvalidParameter):
    """The answer differs between add-remove and replace neighbours, and none was named."""


class InvalidData(DeniableError, ValueError):
    """Data of the wrong shape or kind. The message never quotes a value."""


class Unsupported(DeniableError):
    """A sound request that this loss or mechanism cannot serve; the message names what can."""


class InvalidStoppingRule(Unsupported):
    """A number that holds for releases fixed in advance, used to steer adaptive ones."""


class UsedUp(DeniableError):
    """A session has told all that its loss pays for; going on would cost more."""


class MissingExtra(DeniableError, ImportError):
    """An optional package is not installed; the message names the command that adds it."""


class InvalidPolicy(DeniableError, ValueError):
    """A policy that contradicts itself, or names what is not there; quotes file and line.

    `where` is the path of keys that led there, such as ("tables", "visits", "unit").
    """

    def __init__(self, message: str, *, where: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.where = where


class InvalidCertificate(DeniableError, ValueError):
    """A certificate that was changed, is signed by somebody else, or does not add up."""


class InvalidQuery(DeniableError, ValueError):
    """A question that cannot be understood, or not answered privately; says what works."""


class UnboundedColumn(InvalidQuery):
    """A sum without limits: one person could change it by any amount."""


class BudgetExhausted(DeniableError):
    """The answer would cost more than is left. Nothing was spent and nothing was read."""


class LedgerUnavailable(DeniableError):
    """The ledger cannot be read or written now, so nothing is answered. What was reserved
    before, or may have been, stays charged."""


class LedgerBroken(DeniableError):
    """The ledger is not what was written to it, or not the one that was expected."""


class EngineFailed(DeniableError):
    """The one message after an engine has started, with a reference number for the owner."""

    def __init__(self, reference: str) -> None:
        super().__init__(
            f"The engine could not answer (reference {reference}). The owner's log says more; "
            "this message is the same whatever the rows hold."
        )
        self.reference = reference
