"""The pages that a person can go to: those of the menu that the role matrix allows."""

from dataclasses import dataclass

from deniable.app.server.accounts.role_matrix import reach

# A page of a policy: its name in the menu and its address. The order is that of the menu.
MENU: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class MenuItem:
    """One entry of the menu. `here`: whether it is the page that is shown."""

    name: str
    address: str
    here: bool


def menu_for(role: str, policy: str, path: str) -> list[MenuItem]:
    """The menu of a policy for a role, on the page at this path.

    >>> menu_for("operator", "hospital", "/console")
    []
    """
    items = []
    for name, route in MENU:
        if reach("GET", route, role) is not None:
            address = route.format(policy=policy)
            items.append(MenuItem(name, address, path == address))
    return items
