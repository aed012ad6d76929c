"""Every exception that Deniable raises, in one tree.

    DeniableError
    ├── InvalidParameter (ValueError)   an argument that cannot be used
    │   └── MissingRelation             the result depends on `neighbors=`, which is missing
    ├── InvalidData (ValueError)        data of the wrong shape or type; never quotes a value
    ├── InvalidPolicy (ValueError)      a policy that cannot be read or contradicts itself
    ├── InvalidCertificate (ValueError) a certificate that was changed or does not add up
    ├── InvalidQuery (ValueError)       a question that cannot be parsed or answered privately
    │   └── UnboundedColumn             an answer that one person could change by any amount
    ├── BudgetExhausted                 the answer costs more than is left of the budget
    ├── QuestionPending                 the same question is being answered for somebody else
    ├── LedgerUnavailable               the ledger cannot be read or written now
    ├── LedgerBroken                    the ledger was changed, or belongs to another policy
    ├── CollectionUnavailable           the reports of a survey cannot be stored or read now
    ├── CollectionClosed                a survey that takes no more reports
    ├── InvitationRefused               a token or pass that is unknown, forged or used already
    ├── ServerUnavailable               a server that cannot be reached, or cannot work now
    ├── AccessDenied                    a token that is unknown, or does not allow this
    ├── TooManyQuestions                a queue that is full; nothing was spent
    ├── PlanRefused                     the kernel cannot prove what a plan declares
    ├── EngineFailed                    the only error after an engine has started
    ├── Unsupported                     a valid request that this loss or mechanism cannot serve
    │   ├── InvalidStoppingRule         a cost that must not decide when to stop asking
    │   └── PrecisionNotReached         bounds that cannot be as close together as was asked for
    ├── UsedUp                          a session has given all answers that its loss covers
    └── MissingExtra (ImportError)      an optional package is not installed

    AnswerWarning (UserWarning)         noise will drown the answer, said before the charge
    FrameWarning (UserWarning)          values chose the types of a frame, or they do not fit
    KeyWarning (UserWarning)            a server's key is trusted because it was the first
    LedgerWarning (UserWarning)         another session holds the ledger, and this one waits
    PipelineWarning (UserWarning)       a step ahead of an estimator is fitted on raw rows
    SplitterWarning (UserWarning)       a clone is fitted on rows that a splitter chose

A message says what is wrong, why, and how to fix it. Parameters are public, so messages about
them quote the value. Messages about data never quote a value.
"""


class DeniableError(Exception):
    """The root: catch this to catch every error that Deniable raises on purpose."""


class InvalidParameter(DeniableError, ValueError):
    """A public parameter (epsilon, sensitivity, a probability) that cannot be used."""


class MissingRelation(InvalidParameter):
    """The result differs between add-remove and replace neighbours, and none was given."""


class InvalidData(DeniableError, ValueError):
    """Data of the wrong shape or type. The message never quotes a value."""


class Unsupported(DeniableError):
    """A valid request that this loss or mechanism cannot serve; the message says what can."""


class InvalidStoppingRule(Unsupported):
    """A cost that holds only for releases fixed in advance, used for adaptive releases."""


class PrecisionNotReached(Unsupported):
    """Bounds that cannot be as close together as was asked for. The message gives the best."""


class UsedUp(DeniableError):
    """A session has given all answers that its loss covers. More answers would cost more."""


class MissingExtra(DeniableError, ImportError):
    """An optional package is not installed. The message names the command that installs it."""


class InvalidPolicy(DeniableError, ValueError):
    """A policy that cannot be read or contradicts itself. The message quotes file and line.

    `where` is the path of keys to the fault, such as ("tables", "visits", "unit").
    """

    def __init__(self, message: str, *, where: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.where = where


class InvalidCertificate(DeniableError, ValueError):
    """A certificate that was changed, has another signer, or does not add up."""


class InvalidQuery(DeniableError, ValueError):
    """A question that cannot be parsed or answered privately. The message says what works."""


class UnboundedColumn(InvalidQuery):
    """A column without bounds: one person could change the answer by any amount."""


class BudgetExhausted(DeniableError):
    """The answer costs more than is left of the budget. Nothing was spent, no row was read."""


class QuestionPending(DeniableError):
    """The same question is still being answered for somebody else. Nothing was spent."""


class LedgerUnavailable(DeniableError):
    """The ledger cannot be read or written now, so nothing is answered.

    A charge that was written before the failure, or may have been, stays.
    """


class LedgerBroken(DeniableError):
    """The ledger was changed since it was written, or belongs to another policy."""


class CollectionUnavailable(DeniableError):
    """The reports of a survey cannot be stored or read now. Nothing was accepted."""


class CollectionClosed(DeniableError):
    """The survey has closed and takes no more reports. No pass was used up."""


class InvitationRefused(DeniableError):
    """A token or a pass that is unknown, forged, of another survey, or used already."""


class ServerUnavailable(DeniableError):
    """A server cannot be reached, or cannot use its own database now."""


class AccessDenied(DeniableError):
    """A token that is unknown or expired, or that does not allow this. Nothing was spent."""


class TooManyQuestions(DeniableError):
    """The queue of a server, or of one analyst, is full. Nothing was spent."""


class PlanRefused(DeniableError):
    """The kernel cannot prove that a plan is as private as it declares. No row was read."""


class AnswerWarning(UserWarning):
    """Noise will drown the answer: an expression has no limits. Nothing was charged yet."""


class FrameWarning(UserWarning):
    """The types of a frame's columns were chosen by its values, or do not fit the policy."""


class KeyWarning(UserWarning):
    """A server is used for the first time, and its key is trusted from now on."""


class LedgerWarning(UserWarning):
    """Another session holds the ledger. This one waits for it."""


class PipelineWarning(UserWarning):
    """A step of a pipeline ahead of an estimator is fitted on raw rows, without privacy."""


class SplitterWarning(UserWarning):
    """A clone is fitted in a loop of another library, whose splitter may move other rows."""


class EngineFailed(DeniableError):
    """The only error after an engine has started, with a reference number for the owner."""

    def __init__(self, reference: str) -> None:
        super().__init__(
            f"The engine could not answer (reference {reference}). The data owner finds the "
            "cause in the log, under this number. This message depends on no row of the data."
        )
        self.reference = reference
