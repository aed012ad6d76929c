"""Every exception that Deniable raises, in one tree.

    DeniableError
    ├── InvalidParameter (ValueError)   a public parameter that cannot be used
    │   └── MissingRelation             a question that has no answer without `neighbors=`
    ├── InvalidData (ValueError)        data of the wrong shape or kind; never quotes a value
    ├── Unsupported                     a sound request that this loss or mechanism cannot serve
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


class UsedUp(DeniableError):
    """A session has told all that its loss pays for; going on would cost more."""


class MissingExtra(DeniableError, ImportError):
    """An optional package is not installed; the message names the command that adds it."""
