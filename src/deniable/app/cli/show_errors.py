"""`deniable errors`: what an error means, why it comes, and what to do about it."""

from typing import Annotated

import typer


def show_errors(
    name: Annotated[
        str | None, typer.Argument(help="An error, such as BudgetExhausted.", metavar="ERROR")
    ] = None,
) -> None:
    """Explain an error: its cause and its remedy. Without a name, list all errors."""
    import textwrap

    from deniable.app.web.error_pages import error_pages, page_name
    from deniable.errors import InvalidParameter
    from deniable.exact.suggestions import suggest

    pages = error_pages()
    if name is None:
        for each in pages.values():
            print(f"{each.title:<22} {each.meaning}")
        return
    short = name.rpartition(".")[2]
    page = pages.get(page_name(short)) or pages.get(short)
    if page is None:
        titles = [each.title for each in pages.values()]
        raise InvalidParameter(
            f"There is no error {name!r}. {suggest(short, titles, 'The errors are')}"
        )
    for part in (
        f"{page.title}: {page.meaning}",
        f"Cause: {page.cause}",
        f"Remedy: {page.remedy}",
    ):
        print(textwrap.fill(part, 96, break_on_hyphens=False, break_long_words=False))
