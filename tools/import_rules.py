"""The import rule of the house, as a contract for import-linter.

The table is in pyproject.toml, one line for each room or sub-room, such as
`privacy.compose: exact, privacy.losses`. The longest name that fits a module is its line, so a
module that lies directly in a room with sub-rooms follows the room's line. Only direct imports
count: that `synth` reaches `exact` through `release` is what `release` is for. A module that
is imported by its name in a string (`import_module`) counts like any other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

from tools.house import imported_by_name

OPEN_TO_ALL = "errors"
EVERYTHING = "*"


@dataclass(frozen=True, slots=True)
class Room:
    """One line of the table: a room and the modules that it may import."""

    name: str
    may_import: tuple[str, ...]

    @classmethod
    def parse(cls, line: str) -> Room:
        """
        >>> Room.parse("engines: query.plan, exact")
        Room(name='engines', may_import=('query.plan', 'exact'))
        """
        name, colon, allowed = line.partition(":")
        if not colon:
            raise ValueError(f"A room's line reads 'room: what it may import'. Found {line!r}.")
        return cls(
            name.strip(), tuple(part.strip() for part in allowed.split(",") if part.strip())
        )

    def permits(self, module: str) -> bool:
        """Whether this room may import `module` (below the package; "" is the public face)."""
        allowed = (self.name, OPEN_TO_ALL, *self.may_import)
        return EVERYTHING in allowed or any(_lies_in(module, room) for room in allowed)


def violations(
    rooms: list[Room], modules: set[str], imports: set[tuple[str, str]]
) -> list[str]:
    """Each way in which a package breaks its table of rooms.

    `modules` and `imports` (importer, imported) are dotted names below the package.

    >>> table = [Room.parse("exact:"), Room.parse("privacy: exact")]
    >>> violations(table, {"exact", "privacy"}, {("privacy", "exact")})
    []
    >>> violations(table, {"exact", "privacy"}, {("exact", "privacy.pure")})
    ['exact imports privacy.pure, but `exact` may not.']
    """
    return [
        *_faults_of_table(rooms, modules),
        *_faults_of_imports({room.name: room for room in rooms}, imports),
    ]


def _faults_of_table(rooms: list[Room], modules: set[str]) -> list[str]:
    names = [room.name for room in rooms]
    faults = [f"{name} has no line in the table of rooms." for name in _missing(names, modules)]
    faults += [
        f"{name} has a line in the table, but there is no such room."
        for name in names
        if not any(_lies_in(module, name) for module in modules)
    ]
    for position, room in enumerate(rooms):
        above = {*names[:position], EVERYTHING}
        faults += [
            f"{room.name} may not name {other}, which is not above it."
            for other in room.may_import
            if other not in above and not any(_lies_in(other, name) for name in above)
        ]
    return faults


def _missing(names: list[str], modules: set[str]) -> list[str]:
    """Rooms without a line, and sub-rooms without one beside sub-rooms that have one."""
    divided = {name.rpartition(".")[0] for name in names if "." in name}
    packages = {module.rpartition(".")[0] for module in modules if "." in module}
    sub_rooms = {package for package in packages if package.rpartition(".")[0] in divided}
    return sorted(({module.partition(".")[0] for module in modules} | sub_rooms) - {*names, ""})


def _faults_of_imports(table: dict[str, Room], imports: set[tuple[str, str]]) -> list[str]:
    return [
        f"{importer} imports {imported or 'the public face'}, but `{room.name}` may not."
        for importer, imported in sorted(imports)
        # The public face (importer "") shows every room. A room without a line has its fault.
        if (room := _line_of(table, importer)) and not room.permits(imported)
    ]


def _line_of(table: dict[str, Room], module: str) -> Room | None:
    while module and module not in table:
        module = module.rpartition(".")[0]
    return table.get(module)


def _lies_in(module: str, room: str) -> bool:
    return module == room or module.startswith(room + ".")


def _by_name(graph: ImportGraph, package: str) -> Iterator[tuple[str, str]]:
    """The imports by name of all modules of a package; its public face shows every room."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    for module in graph.modules - {package}:
        path = Path(spec.origin).parent.joinpath(*module.split(".")[1:])
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        tree = ast.parse(file.read_text(encoding="utf-8"))
        yield from ((module, name) for name in imported_by_name(module, tree, graph.modules))


class Rooms(Contract):
    """`type = "rooms"` in pyproject.toml."""

    rooms = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        (package,) = self.session_options["root_packages"]

        def below(module: str) -> str:
            return module.removeprefix(package).removeprefix(".")

        imports = {
            (below(importer), below(imported))
            for importer in graph.modules
            for imported in graph.find_modules_directly_imported_by(importer)
        }
        imports |= {
            (below(source), below(target)) for source, target in _by_name(graph, package)
        }
        faults = violations(
            [Room.parse(line) for line in self.rooms],  # type: ignore[attr-defined]
            {below(module) for module in graph.modules},
            imports,
        )
        return ContractCheck(kept=not faults, metadata={"faults": faults})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for fault in check.metadata["faults"]:
            output.print_error(fault)
