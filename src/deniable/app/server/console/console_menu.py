"""The pages that a person can go to: those of the menu that the role matrix allows."""

from dataclasses import dataclass

from deniable.app.server.accounts.role_matrix import reach

# A page of a policy: its name in the menu, its address, and what it is for. The order is that
# of the menu.
MENU: tuple[tuple[str, str, str], ...] = (
    ("Ask", "/console/{policy}/ask", "see what an answer costs, then ask"),
    ("Releases", "/console/{policy}/releases", "read and download answers"),
    ("Calculator", "/console/{policy}/calculator", "compute with released numbers"),
    ("Budget", "/console/{policy}/budget", "how many questions are left"),
    ("Rehearse", "/console/{policy}/rehearse", "try questions on made-up rows"),
    ("Surveys", "/console/surveys", "draft, open and read them"),
    ("Policy", "/console/{policy}/policy", "what is public, and the limits"),
    ("Ledger", "/console/{policy}/ledger", "every charge, and how to check them"),
)


@dataclass(frozen=True, slots=True)
class MenuItem:
    """One entry of the menu. `here`: "page" for the page that is shown, "true" for one below
    it, such as an answer below the releases; empty for others."""

    name: str
    address: str
    here: str
    about: str


def menu_for(role: str, policy: str, path: str) -> list[MenuItem]:
    """The menu of a policy for a role, on the page at this path.

    >>> menu_for("operator", "hospital", "/console")
    []
    >>> [entry.here for entry in menu_for("auditor", "clinic", "/console/clinic/releases/1")]
    ['true', '', '', '', '']
    """
    items = []
    for name, route, about in MENU:
        if reach("GET", route, role) is not None:
            address = route.format(policy=policy)
            below = "true" if path.startswith(f"{address}/") else ""
            items.append(MenuItem(name, address, "page" if path == address else below, about))
    return items
