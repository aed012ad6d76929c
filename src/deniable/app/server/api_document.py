"""The interface as an OpenAPI document, for tools that make clients or try to break servers.

The routes read their bodies themselves, so what they take and give is written down here. A test
compares the document with the routes, and another sends what it allows, and what it does not.
"""

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from deniable.app.server.problem_details import MEDIA_TYPE
from deniable.app.server.questions.answer_formats import FORMATS

Json = dict[str, Any]
_TEXT: Json = {"type": "string"}
_NUMBER: Json = {
    "description": 'A JSON number, or an exact one as text, such as "1/3".',
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^-?\d{1,9}(/\d{1,9})?$"}],
}
_POSITIVE: Json = {
    "anyOf": [
        {"type": "number", "exclusiveMinimum": 0, "maximum": 100},
        {"type": "string", "pattern": r"^[1-9]\d{0,2}(/[1-9]\d{0,2})?$"},
    ]
}
_TEXTS: Json = {"type": "array", "items": _TEXT}


def _object(properties: Json, *required: str, closed: bool = False) -> Json:
    schema: Json = {"type": "object", "properties": properties, "required": list(required)}
    return schema | ({"additionalProperties": False} if closed else {})


_OPTIONS: Json = {
    "sql": {"type": "string", "minLength": 1, "maxLength": 65536},
    "epsilon": _POSITIVE,
    "delta": {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
    "confidence": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "margin": _POSITIVE,
    "relative": _POSITIVE,
    "of": _POSITIVE,
    "bounds": {"anyOf": [{"const": "find"}, _TEXTS]},
    "weights": {"type": "object", "additionalProperties": _POSITIVE},
    "nonnegative": {"type": "boolean"},
    "other": {"type": "boolean"},
    "brackets": {"type": "boolean"},
}
_CAP: Json = {"type": "integer", "minimum": 1, "maximum": 200}
_AROUND: Json = {
    "question_id": {"type": "string", "minLength": 1, "maxLength": 64},
    "part": {
        "description": "Columns, each with one of its keys, and maybe the table's name.",
        "type": "array",
        "maxItems": 16,
        "items": {
            "type": "array",
            "minItems": 2,
            "maxItems": 3,
            "prefixItems": [
                _TEXT,
                {"type": ["string", "number", "integer", "boolean"]},
                _TEXT,
            ],
        },
    },
    "expects": _TEXTS,
}
SCHEMAS: Json = {
    "Problem": _object(
        {"type": _TEXT, "title": _TEXT, "status": {"type": "integer"}, "detail": _TEXT},
        *("type", "title", "status", "detail"),
    ),
    "Request": {
        "anyOf": [
            _object(
                _OPTIONS | {"fresh": {"type": "boolean"}} | _AROUND,
                "sql",
                "epsilon",
                closed=True,
            ),
            _object(
                {
                    "questions": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": 1000,
                        "items": _object(
                            {n: s for n, s in _OPTIONS.items() if n != "bounds"},
                            *("sql", "epsilon"),
                            closed=True,
                        ),
                    },
                    "delta": _NUMBER,
                }
                | _AROUND,
                "questions",
                closed=True,
            ),
            _object(
                {
                    "limits": _object(
                        {
                            "table": _TEXT,
                            "by": _TEXTS,
                            "max_groups": _CAP,
                            "max_rows": _CAP,
                        }
                        | {n: _OPTIONS[n] for n in ("epsilon", "confidence")},
                        *("table", "epsilon"),
                        closed=True,
                    )
                }
                | _AROUND,
                "limits",
                closed=True,
            ),
            _object(
                {
                    "profile": _object(
                        {"table": _TEXT}
                        | {n: _OPTIONS[n] for n in ("epsilon", "delta", "confidence")},
                        *("table", "epsilon"),
                        closed=True,
                    )
                }
                | _AROUND,
                "profile",
                closed=True,
            ),
        ]
    },
    "BudgetRequest": _object(
        {
            "tables": _TEXTS,
            "part": {
                "type": "array",
                "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": _TEXT},
            },
            "touches": {"enum": [1, 2]},
        },
        closed=True,
    ),
    "Login": _object(
        {"name": _TEXT, "password": _TEXT, "code": _TEXT}, "name", "password", closed=True
    ),
    "Waiting": _object(
        {
            "id": _TEXT,
            "question_id": _TEXT,
            "ready": {"type": "number", "description": "Seconds since 1970."},
            "wait": {"type": "number", "minimum": 0},
        },
        *("id", "question_id", "ready", "wait"),
    ),
    "Budget": _object(
        {"epsilon": _TEXT, "delta": _TEXT, "others": {"type": "array"}}, "epsilon", "delta"
    ),
    "Explanation": _object(
        {
            "epsilon": _TEXT,
            "delta": _TEXT,
            "plan_hashes": _TEXTS,
            "tree": {"type": "array"},
            "text": _TEXT,
            "how_many": {"type": ["integer", "null"]},
        },
        *("epsilon", "delta", "plan_hashes"),
    ),
    "Head": _object({"number": {"type": "integer"}}, "number"),
    "Object": {"type": "object"},
    "List": {"type": "array", "items": {"type": "object"}},
}


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(name: str, description: str) -> Json:
    return {"description": description, "content": {"application/json": {"schema": _ref(name)}}}


def _answer_forms() -> Json:
    kinds = dict.fromkeys(media_type.partition(";")[0] for media_type, _ in FORMATS.values())
    content: Json = {kind: {"schema": {}} for kind in kinds}
    return {"description": "The answer in the form that is asked for.", "content": content}


_WAITING = _json("Waiting", "The question is taken; its outcome is there when its slot ends.")
_PAGE: Json = {"description": "A page.", "content": {"text/html": {"schema": _TEXT}}}
_PLAIN: Json = {"description": "Numbers.", "content": {"text/plain": {"schema": _TEXT}}}
_MOVED: Json = {"description": "To the provider, or back from it."}
_FORM_NAMES = ("certificate", "label", "record", "csv", "arrow", "parquet", "json")
# For each route: what it does, the schema of its body, and its answers.
ROUTES: dict[tuple[str, str], tuple[str, str | None, Json]] = {
    ("GET", "/health"): ("Whether the process answers", None, {"200": _json("Object", "Yes.")}),
    ("GET", "/ready"): (
        "Whether it can use its database and its ledgers",
        None,
        {"200": _json("Object", "Yes."), "503": _json("Object", "No.")},
    ),
    ("GET", "/metrics"): ("Public numbers, if configured", None, {"200": _PLAIN}),
    ("GET", "/openapi.json"): ("This document", None, {"200": _json("Object", "It.")}),
    ("GET", "/problems/{name}"): ("What a problem means", None, {"200": _PAGE}),
    ("POST", "/login"): ("Begin a session", "Login", {"200": _json("Object", "Begun.")}),
    ("GET", "/login/{provider}"): ("Log in elsewhere", None, {"303": _MOVED}),
    ("GET", "/login/{provider}/return"): ("Come back", None, {"303": _MOVED}),
    ("POST", "/logout"): ("End the session", None, {"204": {"description": "Ended."}}),
    ("GET", "/who"): ("Who asks", None, {"200": _json("Object", "The person.")}),
    ("GET", "/people"): ("Everybody, for the owner", None, {"200": _json("List", "All.")}),
    ("GET", "/v1/{policy}/tables"): (
        "What is public about the policy, and the owner's key",
        None,
        {"200": _json("Object", "The policy.")},
    ),
    ("POST", "/v1/{policy}/explain"): (
        "The plan of a request and its price; nothing is spent",
        "Request",
        {"200": _json("Explanation", "The plan.")},
    ),
    ("POST", "/v1/{policy}/releases"): ("Ask; this spends", "Request", {"202": _WAITING}),
    ("GET", "/v1/{policy}/releases/{name}"): (
        "An answer, by its id, maybe with an ending such as .csv",
        None,
        {"200": _answer_forms(), "202": _WAITING},
    ),
    ("GET", "/v1/{policy}/releases/{name}/{form}"): (
        "An answer in another form: " + ", ".join(_FORM_NAMES),
        None,
        {"200": _answer_forms(), "202": _WAITING},
    ),
    ("GET", "/v1/{policy}/budget"): (
        "What is left for you",
        None,
        {"200": _json("Budget", "It.")},
    ),
    ("POST", "/v1/{policy}/budget"): (
        "What is left for some tables, or for a part",
        "BudgetRequest",
        {"200": _json("Budget", "It.")},
    ),
    ("GET", "/v1/{policy}/ledger/head"): (
        "The signed end of the ledger",
        None,
        {"200": _json("Head", "It.")},
    ),
    ("GET", "/v1/{policy}/ledger/entries"): (
        "Your charges; all, for owners and auditors",
        None,
        {"200": _json("List", "They.")},
    ),
}
_PROBLEMS = (400, 401, 403, 404, 405, 406, 409, 410, 413, 429, 502, 503)


def describe_interface(routes: set[tuple[str, str]] | None = None) -> Json:
    """The OpenAPI document of these routes, or of all.

    >>> document = describe_interface()
    >>> document["openapi"], sorted(document["paths"]["/v1/{policy}/budget"])
    ('3.1.0', ['get', 'post'])
    """
    paths: dict[str, Json] = {}
    for (method, path), route in ROUTES.items():
        if routes is None or (method, path) in routes:
            paths.setdefault(path, {})[method.lower()] = _describe_route(path, *route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Deniable", "version": version("deniable")},
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _describe_route(path: str, summary: str, body: str | None, answers: Json) -> Json:
    problem = {
        "description": "A problem.",
        "content": {MEDIA_TYPE: {"schema": _ref("Problem")}},
    }
    names = [part.strip("{}") for part in path.split("/") if part.startswith("{")]
    operation: Json = {
        "summary": summary,
        "responses": {str(status): problem for status in _PROBLEMS} | answers,
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": _TEXT | {"minLength": 1}}
            for name in names
        ],
    }
    if body is not None:
        content = {"application/json": {"schema": _ref(body)}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def document_router(routers: list[APIRouter]) -> APIRouter:
    """The route of the document about the routes of these routers, and about itself."""
    served = {
        (method, str(getattr(route, "path", "")))
        for router in routers
        for route in router.routes
        for method in getattr(route, "methods", ())
    }
    document = describe_interface(served | {("GET", "/openapi.json")})
    router = APIRouter()

    async def show_document(_: Request) -> Response:
        return JSONResponse(document)

    router.add_api_route("/openapi.json", show_document, methods=["GET"])
    return router
