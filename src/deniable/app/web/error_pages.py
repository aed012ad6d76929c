"""What each error means, its cause and its remedy: for a terminal, a server and the site."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from deniable import errors
from deniable.errors import DeniableError


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """One error or warning: its name, what it means, why it comes and what to do."""

    title: str
    meaning: str
    cause: str
    remedy: str
    parent: str  # the error of ours that catches it too; "" without one


def page_name(error: str) -> str:
    """The name of an error's page.

    >>> page_name("BudgetExhausted")
    'budget-exhausted'
    """
    return re.sub("(?<!^)(?=[A-Z])", "-", error).lower()


def error_pages() -> dict[str, ErrorPage]:
    """All errors and warnings, by the names of their pages, in the order of the tree.

    >>> print(error_pages()["too-many-questions"].remedy.partition(".")[0])
    Wait for your earlier answers, then ask again
    """
    pages = {}
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, DeniableError | UserWarning):
            cause, remedy = CAUSES[name]
            parent = next(
                (ancestor.__name__ for ancestor in kind.__mro__[1:] if ancestor in _OURS), ""
            )
            meaning = " ".join((kind.__doc__ or "").split())
            pages[page_name(name)] = ErrorPage(name, meaning, cause, remedy, parent)
    return pages


_OURS = frozenset(
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, DeniableError)
)
# The cause and the remedy of every error. A test fails if one is missing.
CAUSES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "DeniableError": (
            "None of its own: every error below is one.",
            "Catch it to handle all errors of Deniable in one place. Catch a kind below "
            "it to handle that kind.",
        ),
        "InvalidParameter": (
            "A number or name that you gave cannot be used: an epsilon that is not "
            "positive, a probability above 1, a misspelt option. Nothing was spent.",
            "The message quotes what it found and says what is allowed. `help()` of the "
            "function lists its options.",
        ),
        "MissingRelation": (
            "Whether a row vanishes or changes matters here, and nothing says which is meant.",
            'Give `neighbors="add-remove"` if one unit\'s rows may vanish, or '
            '`neighbors="replace"` if they may change into others. The policy of a table '
            "says it once for all questions.",
        ),
        "InvalidData": (
            "An array with the wrong number of axes, text where numbers belong, reports "
            "that no randomizer could have sent. The value itself is not quoted, because "
            "it may be private.",
            "Convert or filter the data before you hand it over; the message names the "
            "shape or type that is needed.",
        ),
        "Unsupported": (
            "What you ask for makes sense, but this mechanism, loss or engine cannot do "
            "it exactly.",
            "The message names what can. Often another engine or another loss works. "
            "Nothing was spent.",
        ),
        "InvalidStoppingRule": (
            "Some ways to add up losses hold only for a number of releases that was fixed "
            "before the first. Here the answers decide when to stop.",
            "Use a filter (`dp.PureFilter`, `dp.ConcentratedFilter`) or a ledger, which "
            "are made for adaptive sequences; or fix the number of releases first.",
        ),
        "PrecisionNotReached": (
            "The numerical method could not bring its lower and upper bound as near to "
            "each other as you asked.",
            "Use the bounds that the message gives, or ask for less precision.",
        ),
        "UsedUp": (
            "A mechanism that answers a fixed number of questions (a sparse vector, a "
            "bandit) has answered them.",
            "Start another one, which costs again, or ask for more answers when you create it.",
        ),
        "MissingExtra": (
            "This part needs a package that a plain installation leaves out, such as "
            "matplotlib for pictures or pyspark for Spark.",
            "Run the command in the message, for example `pip install 'deniable[figures]'`.",
        ),
        "InvalidPolicy": (
            "A misspelt key, a bound below another, a source that cannot be opened, two "
            "tables that contradict each other.",
            "Correct the line that the message names. `deniable tables` then shows how "
            "the policy was read. The page on policy keys lists every key.",
        ),
        "InvalidCertificate": (
            "A number, the signature or a part of a release was changed; or it was signed "
            "by another owner than the one whose key you gave; or its margins do not "
            "follow from its noise.",
            "Do not use the numbers. Get the release again from the owner, and compare "
            "the public key through another channel.",
        ),
        "InvalidQuery": (
            "The SQL has a mistake, or asks for something that cannot be released, such "
            "as single rows. It was found before anything was charged.",
            "The message names the part and says what to write instead. The page on SQL "
            "lists what works and what is refused.",
        ),
        "UnboundedColumn": (
            "A sum or an average of a column without bounds: one person with a huge value "
            "could move it by any amount, and no noise would hide that.",
            "Declare bounds in the policy, as in `cost = { bounds = [0, 10000] }`; or put "
            "limits into the question, as in `SUM(CLAMP(cost, 0, 1000))`; or let "
            '`bounds="find"` spend a fifth of epsilon.',
        ),
        "BudgetExhausted": (
            "The owner gave this table, unit or analyst a total, and the question would "
            "exceed what is left of it. A budget never comes back by itself, unless it "
            "has a schedule.",
            "Ask with a smaller epsilon, or repeat an earlier question, which is free. "
            "`deniable budget` shows what is left. The owner can allow more in the "
            "policy: see the guide on renewing.",
        ),
        "QuestionPending": (
            "Somebody else has just asked the same question, and its answer is not "
            "settled yet.",
            "Wait a moment and ask again: the answer will then be repeated, at no cost.",
        ),
        "LedgerUnavailable": (
            "The file or database of the ledger cannot be reached, is locked for too long, is "
            "on a full disk, or its key cannot be read.",
            "Mend what the message names and ask again. A charge that was written before the "
            "failure, or may have been, stays.",
        ),
        "LedgerBroken": (
            "An entry was changed, removed or added by hand; or an old copy of the ledger "
            "was put back; or the policy names another ledger.",
            "Stop. Do not delete the ledger: with an empty one the budget would be spent "
            "twice. Restore the newest copy, and see the guide on backups.",
        ),
        "CollectionUnavailable": (
            "The store of a survey cannot be reached or written. The report was not "
            "accepted, so the phone keeps it and sends it again.",
            "Mend the store and leave the page open; nothing is lost on the devices.",
        ),
        "CollectionClosed": (
            "The pollster has closed the survey, or its date has passed.",
            "Nothing can be sent any more. The people who run it can say why; "
            "reports that were "
            "sent before are counted.",
        ),
        "InvitationRefused": (
            "The link was used already, was cut off when it was copied, or belongs to "
            "another survey.",
            "Open the newest link from your invitation. The people who run the survey can make "
            "a new one: `deniable survey invite`.",
        ),
        "ServerUnavailable": (
            "The address is wrong, the network is down, or the server cannot use its own "
            "database now. Nothing more was spent.",
            "Check the address, and try again later with the same call: a question id "
            "makes sure that it is not charged twice.",
        ),
        "AccessDenied": (
            "The token is unknown, expired or revoked, or its role does not allow this "
            "table or action. Nothing was spent.",
            "Ask the owner for a token: `deniable token new NAME`. Then set "
            "`DENIABLE_TOKEN`, or give `token=`.",
        ),
        "TooManyQuestions": (
            "More questions wait than the server takes, in all or of one person. Nothing "
            "was spent.",
            "Wait for your earlier answers, then ask again. The owner can raise `--queue` "
            "and `--queue-each`.",
        ),
        "PlanRefused": (
            "The second reading of a plan's SQL could not confirm how far one unit can "
            "move its numbers. No row was read and nothing was charged. This is a fault "
            "of ours, or a rare kind of question.",
            'Ask in a simpler form, and report the question: `deniable kernel "SELECT '
            '..."` shows what the kernel derived.',
        ),
        "AnswerWarning": (
            "An expression has no limits, such as the days between any two dates, so noise "
            "will drown the answer.",
            "Write limits around it, as the warning shows: `CLAMP(DATE_DIFF('day', a, b), 0, "
            "365)`. `deniable explain` shows the margin, and spends nothing.",
        ),
        "FrameWarning": (
            "pandas or another library chose the type of a column by looking at its "
            "values, so a single row could change how others are read.",
            'Declare the kind of the column (`kind={"day": "date"}`), or convert it to a '
            "type yourself.",
        ),
        "KeyWarning": (
            "The first connection to a server without `key=`. Its key was recorded, and "
            "another one will be refused.",
            "Compare the key with the owner's, through another channel, and give it: "
            '`key="5f1c..."`.',
        ),
        "LedgerWarning": (
            "Another process is writing to the same ledger. This is normal with several "
            "sessions.",
            "Wait. If it never ends, look for a session that was left open.",
        ),
        "PipelineWarning": (
            "A scaler, an imputer or a selector ahead of a private estimator looks at all "
            "raw rows. What it learns is exact, and is outside the guarantee.",
            "Leave it out (our estimators need no scaling), or use steps that treat each "
            "row by itself.",
        ),
        "SplitterWarning": (
            "Cross-validation of another library splits rows by their position, so that "
            "one person's absence moves others between folds. Then the losses of the "
            "folds add up differently.",
            "Use `dp.learn.cross_validate`, or give the loop `cv=dp.learn.Folds(5)`.",
        ),
        "EngineFailed": (
            "The engine stopped after the charge: it lost its connection, ran out of memory or "
            "time, or a file changed meanwhile. The message is always the same, because the "
            "cause could tell something about rows.",
            "The owner finds the cause in the log, under the reference number. The charge "
            "stays, because a failure tells something too.",
        ),
    }
)
