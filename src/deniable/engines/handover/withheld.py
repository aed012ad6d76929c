"""What an engine returns: a value that only the step that adds the noise can read."""

from collections.abc import Callable
from typing import Generic, NoReturn, TypeVar

T = TypeVar("T")
S = TypeVar("S")

_WHY = (
    "These are exact numbers about people, before any noise. They leave only through "
    "Session.release, which adds the noise that was paid for."
)


class Withheld(Generic[T]):
    """A value that does not print, copy, iterate, compare or leave as JSON or pickle.

    It guards against accidents (a log line, a debugger's repr, a cache). It does not guard
    against code that wants to read it: such code could read the table too.

    >>> secret = Withheld([41, 7])
    >>> secret, f"{secret}", str(secret)
    (<withheld>, '<withheld>', '<withheld>')
    >>> secret.reveal_to(len)
    2
    """

    __slots__ = ("__value",)

    def __init__(self, value: T) -> None:
        self.__value = value

    def reveal_to(self, step: Callable[[T], S]) -> S:
        """Calls `step` with the value: the only exit, used only by the release."""
        return step(self.__value)

    def __repr__(self) -> str:
        return "<withheld>"

    def __format__(self, spec: str) -> str:
        return "<withheld>"

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(_WHY)

    __reduce__ = __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = _refuse
    __iter__ = __len__ = __getitem__ = __contains__ = __bool__ = _refuse
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __int__ = __float__ = __index__ = __array__ = _refuse
    __hash__ = None  # type: ignore[assignment]
