"""The reference of the API: one page for each room, made from names, signatures, docstrings."""

import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

import deniable as dp
from tools.pages.docstrings import write_docstring, write_signature

FOLDER = "reference/api"
# Each page: its title, and a sentence. A name is on the page of the room that defines it.
ROOMS: Mapping[str, tuple[str, str]] = {
    "release": (
        "Sessions and answers",
        "Open or protect tables, ask them, and check what was released. These names are in "
        "`deniable` itself: `import deniable as dp`.",
    ),
    "query": (
        "Aggregates in Python",
        "What `session.table(...)` takes instead of SQL. The names that SQL has too mean the "
        "same there.",
    ),
    "noise": ("Noise for numbers", "Each mechanism states its loss and its margin."),
    "choose": ("Choices among candidates", "Mechanisms that release which one, not how much."),
    "quantiles": ("Quantiles and densities", "Mechanisms for arrays of numbers."),
    "local": (
        "Randomizers of single answers",
        "Each person's answer is randomized before anybody else sees it. `estimate` reads the "
        "reports.",
    ),
    "privacy": (
        "Losses and what they add up to",
        "What releases reveal at most, alone and together, and filters for adaptive sequences.",
    ),
    "ledger": ("Ledgers", "Where charges are recorded. Most people never call these by hand."),
    "streams": ("Counters, watches and bandits", "Numbers over time, charged once."),
    "infer": ("Inference", "`dp.infer`: populations, differences and tests, free of charge."),
    "learn": ("Learning", "`dp.learn`: private models in the manner of scikit-learn."),
    "synth": ("Copies", "What `session.copy` and `session.crosstabs` return."),
    "surveys": ("Surveys", "`dp.surveys`: questionnaires, randomizing, estimates, results."),
    "price": ("Lower bounds and sample sizes", "`dp.price`: what privacy costs at least."),
    "audit": ("Proofs, tests and attacks", "`dp.audit`: prove, test, or attack your own data."),
    "client": ("A session on a server", "`dp.connect` asks a server instead of a file."),
}
_HANDED_OUT = {  # public by being returned: people hold one without importing its name
    "streams": ("deniable.streams.counters.counter:Counter",),
    "synth": ("deniable.synth.copies.table_copy:TableCopy",),
}


def write_pages() -> dict[str, str]:
    """Every page of the API by its path below docs/."""
    by_room: dict[str, list[tuple[str, Any]]] = {room: [] for room in ROOMS}
    for name, value in public_names():
        by_room[room_of(name, value)].append((name, value))
    for room, places in _HANDED_OUT.items():
        for place in places:
            module, _, name = place.partition(":")
            by_room[room].append((name, getattr(import_module(module), name)))
    pages = {f"{FOLDER}/{room}.md": _write_room(room, names) for room, names in by_room.items()}
    lines = [f"- [{title}]({room}.md): {sentence}" for room, (title, sentence) in ROOMS.items()]
    pages[f"{FOLDER}/index.md"] = (
        "# The API, room by room\n\nMade from the code: every public name, with its signature, "
        "its docstring and an example that a test runs. Errors have [pages of their own]"
        "(../errors/index.md).\n\n" + "\n".join(lines) + "\n"
    )
    return pages


def public_names() -> Iterator[tuple[str, Any]]:
    """Every public name as people write it after `dp.`, with its value; errors are left out."""
    for name in dp.__all__:
        value = getattr(dp, name)
        if isinstance(value, ModuleType):
            yield from _names_of(name, value)
        elif not (isinstance(value, type) and issubclass(value, dp.DeniableError | Warning)):
            yield name, value


def _names_of(prefix: str, module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in module.__all__:
        value = getattr(module, name)
        if isinstance(value, ModuleType):
            yield from _names_of(f"{prefix}.{name}", value)
        else:
            yield f"{prefix}.{name}", value


def room_of(name: str, value: Any) -> str:
    """The room whose page a name is on.

    >>> room_of("Laplace", dp.Laplace), room_of("price.count", dp.price.count)
    ('noise', 'price')
    """
    first = name.partition(".")[0] if "." in name else ""
    if first:
        return first
    parts = getattr(value, "__module__", "deniable.release").split(".")
    room = parts[2] if parts[1] == "mechanisms" else parts[1]
    return room if room in ROOMS else "release"


def _write_room(room: str, names: list[tuple[str, Any]]) -> str:
    title, sentence = ROOMS[room]
    # Guides come first in a search; the reference has every word many times.
    parts = [f"---\nsearch:\n  boost: 0.2\n---\n\n# {title}\n\n{sentence}\n"]
    parts += [write_entry(name, value) for name, value in sorted(names, key=_order)]
    return "\n".join(parts)


def _order(entry: tuple[str, Any]) -> tuple[int, str]:
    return entry[0].count("."), entry[0].lower()


def write_entry(name: str, value: Any) -> str:
    """One name: how it is called, what it says about itself, and its public methods."""
    lines = [f"## {name}\n"]
    if callable(value):
        lines.append(f"```text\n{write_signature(f'dp.{name}', value)}\n```\n")
    lines.append(write_docstring(inspect.getdoc(value)) + "\n")
    if isinstance(value, type):
        lines += [_write_member(name, value, own, member) for own, member in members(value)]
    return "\n".join(lines)


def members(kind: type) -> list[tuple[str, Any]]:
    """The public methods and properties of a class, with what our own classes hand down."""
    by_name: dict[str, Any] = {}
    for parent in kind.__mro__:
        if parent.__module__.startswith("deniable"):
            for name, member in vars(parent).items():
                if not name.startswith("_") and _is_shown(member):
                    by_name.setdefault(name, member)
    return sorted(by_name.items())


def _is_shown(member: Any) -> bool:
    if isinstance(member, property | classmethod | staticmethod):
        return True
    return inspect.isfunction(member)


def _write_member(owner: str, kind: type, name: str, member: Any) -> str:
    called = getattr(member, "__func__", member)
    short = owner.rpartition(".")[2]
    how = f"\n```text\n{write_signature(f'{short}.{name}', called)}\n```\n"
    shown = "" if isinstance(member, property) else how
    return f"### {short}.{name}\n{shown}\n{write_docstring(member_doc(kind, name))}\n"


def member_doc(kind: type, name: str) -> str | None:
    """What a method or property says about itself, or what it says in the class above."""
    for parent in kind.__mro__:
        member = vars(parent).get(name)
        told = inspect.getdoc(getattr(member, "__func__", member)) if member else None
        if told:
            return told
    return None
