"""Which role may use which route: one row for each route, and no for all that is not here.

A cell says `any` (whatever it is about), `own` (what belongs to the person who asks) or -. A
route that anyone may use says `anyone`, and asks for no token. An operator sees no data, no
question and no budget. A server with a route that has no row here refuses to start.
"""

from deniable.app.server.accounts.people import ROLES

_ROWS = """
                                            owner  analyst auditor pollster operator
GET    /health                              anyone
GET    /ready                               anyone
GET    /problems/{name}                     anyone
GET    /metrics                             any    -       -       -        any
POST   /login                               anyone
GET    /login/{provider}                    anyone
GET    /login/{provider}/return             anyone
POST   /logout                              any    any     any     any      any
GET    /who                                 any    any     any     any      any
GET    /people                              any    -       -       -        -
GET    /openapi.json                        any    any     any     any      any
GET    /v1/{policy}/tables                  any    any     any     -        -
POST   /v1/{policy}/explain                 any    any     -       -        -
POST   /v1/{policy}/releases                any    any     -       -        -
GET    /v1/{policy}/releases/{name}         any    own     any     -        -
GET    /v1/{policy}/releases/{name}/{form}  any    own     any     -        -
GET    /v1/{policy}/budget                  own    own     own     -        -
POST   /v1/{policy}/budget                  own    own     own     -        -
GET    /v1/{policy}/ledger/head             any    any     any     -        -
GET    /v1/{policy}/ledger/entries          any    own     any     -        -
GET    /                                    anyone
GET    /console-files/{name}                anyone
GET    /console                             any    any     any     any      any
GET    /console/login                       anyone
POST   /console/login                       anyone
POST   /console/logout                      any    any     any     any      any
"""
_FREE = {
    ("POST", "/v1/{policy}/explain"),
    ("POST", "/v1/{policy}/budget"),  # which asks for what is left
    ("POST", "/login"),
    ("POST", "/logout"),
    ("POST", "/console/login"),
    ("POST", "/console/logout"),
}
ANYONE = "anyone"
Reach = str  # "any", "own" or "anyone"


def read_matrix(rows: str = _ROWS) -> dict[tuple[str, str], dict[str, Reach]]:
    """The matrix: for each method and route what each role may reach; without what is denied.

    >>> read_matrix()["GET", "/v1/{policy}/ledger/entries"]
    {'owner': 'any', 'analyst': 'own', 'auditor': 'any'}
    >>> read_matrix()["GET", "/health"]
    {'anyone': 'anyone'}
    """
    header, *lines = rows.strip("\n").splitlines()
    if tuple(header.split()) != ROLES:
        raise AssertionError("The columns of the matrix are the roles, in their order.")
    matrix: dict[tuple[str, str], dict[str, Reach]] = {}
    for line in lines:
        method, path, *cells = line.split()
        if cells == [ANYONE]:
            matrix[method, path] = {ANYONE: ANYONE}
            continue
        row = dict(zip(ROLES, cells, strict=True))
        if not {*cells} <= {"any", "own", "-"} or (method, path) in matrix:
            raise AssertionError(
                f"The row of {method} {path} cannot be read, or is there twice."
            )
        matrix[method, path] = {role: reach for role, reach in row.items() if reach != "-"}
    return matrix


MATRIX = read_matrix()


def reach(method: str, path: str, role: str | None) -> Reach | None:
    """How far a role reaches on a route; None for not at all, as for a route without a row.

    >>> reach("GET", "/v1/{policy}/budget", "analyst"), reach("GET", "/health", None)
    ('own', 'anyone')
    >>> reach("GET", "/v1/{policy}/budget", "operator"), reach("GET", "/new", "owner")
    (None, None)
    """
    row = MATRIX.get((method, path), {})
    return row.get(ANYONE) or row.get(role or "")


def is_free(method: str, path: str) -> bool:
    """Whether a route spends and changes nothing, so that a read-only token may use it.

    >>> is_free("POST", "/v1/{policy}/explain"), is_free("POST", "/v1/{policy}/releases")
    (True, False)
    """
    return method == "GET" or (method, path) in _FREE
