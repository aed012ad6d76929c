"""The console as a router: the pages of all its parts."""

from fastapi import APIRouter

from deniable.app.server.console.answer_pages import AnswerPages
from deniable.app.server.console.ask_pages import AskPages
from deniable.app.server.console.budget_pages import BudgetPages
from deniable.app.server.console.calculator_pages import CalculatorPages
from deniable.app.server.console.console import Console
from deniable.app.server.console.gallery_pages import GalleryPages
from deniable.app.server.console.home_pages import HomePages
from deniable.app.server.console.oversight.ledger_pages import LedgerPages
from deniable.app.server.console.oversight.policy_pages import PolicyPages
from deniable.app.server.console.rehearsal_pages import RehearsalPages
from deniable.app.server.surveys.respondent_pages import RespondentPages
from deniable.app.server.surveys.survey_console import SurveyConsole

# Each is made from the console and has `routes()`.
PARTS = (
    HomePages,
    SurveyConsole,  # before the pages of policies: no policy has its name
    AskPages,
    GalleryPages,
    AnswerPages,
    BudgetPages,
    CalculatorPages,
    RehearsalPages,
    PolicyPages,
    LedgerPages,
)


def console_router(console: Console) -> APIRouter:
    """The routes of all pages, for use behind an `AccessGate`."""
    router = APIRouter()
    respondents = RespondentPages(console.surveys).routes()
    for route in (*respondents, *(route for part in PARTS for route in part(console).routes())):
        router.add_api_route(route.path, route.answer, methods=[route.method])
    return router
