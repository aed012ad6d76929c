from deniable.app.server.accounts.people import ROLES
from deniable.app.server.accounts.role_matrix import MATRIX, reach
from deniable.app.server.console.console_menu import MENU, menu_for


def test_the_menu_has_what_the_matrix_allows_and_nothing_else():
    assert len(MENU) >= 3
    for role in ROLES:
        shown = {item.address for item in menu_for(role, "hospital", "")}
        allowed = {route for _, route, _ in MENU if reach("GET", route, role) is not None}
        assert shown == {route.format(policy="hospital") for route in allowed}
    assert {("GET", route) for _, route, _ in MENU} <= MATRIX.keys()


def test_the_page_that_is_shown_is_marked():
    marked = [item.name for item in menu_for("owner", "h", "/console/h/budget") if item.here]
    assert marked == ["Budget"]
    below = menu_for("owner", "h", "/console/h/releases/1")
    assert [(item.name, item.here) for item in below if item.here] == [("Releases", "true")]


def test_every_page_has_its_menu_entry_for_some_role():
    names = [name for name, *_ in MENU]
    assert len(names) == len(set(names))
