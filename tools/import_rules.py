"""The import rule of the house, as a contract for import-linter.

The table is in pyproject.toml, one line a room: `mechanisms: exact, privacy`. Only direct
imports count: that `synth` reaches `exact` through `release` is what `release` is for.
"""

from __future__ import annotations

from dataclasses import dataclass

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

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
        return EVERYTHING in allowed or any(
            module == prefix or module.startswith(prefix + ".") for prefix in allowed
        )


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
        *_faults_of_table(rooms, {_room_of(module) for module in modules} - {""}),
        *_faults_of_imports({room.name: room for room in rooms}, imports),
    ]


def _faults_of_table(rooms: list[Room], present: set[str]) -> list[str]:
    names = [room.name for room in rooms]
    faults = [
        f"{name} has no line in the table of rooms." for name in sorted(present - {*names})
    ]
    faults += [
        f"{name} has a line in the table, but there is no such room."
        for name in names
        if name not in present
    ]
    for position, room in enumerate(rooms):
        above = {*names[:position], EVERYTHING}
        faults += [
            f"{room.name} may not name {other}, which is not above it."
            for other in room.may_import
            if _room_of(other) not in above
        ]
    return faults


def _faults_of_imports(table: dict[str, Room], imports: set[tuple[str, str]]) -> list[str]:
    return [
        f"{importer} imports {imported or 'the public face'}, but `{room.name}` may not."
        for importer, imported in sorted(imports)
        # The public face (importer "") shows every room. A room without a line has its fault.
        if (room := table.get(_room_of(importer))) and not room.permits(imported)
    ]


def _room_of(module: str) -> str:
    return module.partition(".")[0]


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
        faults = violations(
            [Room.parse(line) for line in self.rooms],  # type: ignore[attr-defined]
            {below(module) for module in graph.modules},
            imports,
        )
        return ContractCheck(kept=not faults, metadata={"faults": faults})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for fault in check.metadata["faults"]:
            output.print_error(fault)
