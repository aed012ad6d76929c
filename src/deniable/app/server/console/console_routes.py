"""The console as a router: the pages of all its parts."""

from fastapi import APIRouter

from deniable.app.server.console.console import Console
from deniable.app.server.console.home_pages import HomePages

# Each is made from the console and has `routes()`.
PARTS = (HomePages,)


def console_router(console: Console) -> APIRouter:
    """The routes of all pages, for use behind an `AccessGate`."""
    router = APIRouter()
    for part in PARTS:
        for method, path, answer in part(console).routes():
            router.add_api_route(path, answer, methods=[method])
    return router
