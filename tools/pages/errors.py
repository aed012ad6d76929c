"""One page for each error, from the sentences that `deniable errors` and the server show."""

import inspect

from deniable import errors
from deniable.app.web.error_pages import ErrorPage, error_pages

FOLDER = "reference/errors"


def write_pages() -> dict[str, str]:
    """An index, and a page for each exception and warning, by their paths below docs/."""
    pages = error_pages()
    rows = [f"| [{page.title}]({name}.md) | {page.meaning} |" for name, page in pages.items()]
    tree = inspect.getdoc(errors) or ""
    index = (
        "# Errors\n\nEvery error that Deniable raises on purpose, with its cause and remedy. "
        "`deniable errors BudgetExhausted` prints the same page, a server links to it "
        "(`/problems/budget-exhausted`), and in Python it is `help(dp.BudgetExhausted)`. A "
        "message says what is wrong and how to mend it; it never quotes a value of a row.\n\n"
        "| error | what it means |\n|---|---|\n" + "\n".join(rows) + "\n\n## The tree\n\n"
        f"```text\n{_tree(tree)}\n```\n"
    )
    page_texts = {f"{FOLDER}/{name}.md": _write(page) for name, page in pages.items()}
    return {f"{FOLDER}/index.md": index} | page_texts


def _tree(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith("    ")]
    return inspect.cleandoc("\n".join(lines))


def _write(page: ErrorPage) -> str:
    parts = [f"# {page.title}\n\n{page.meaning}\n"]
    parts.append(f"\n## Cause\n\n{page.cause}\n\n## Remedy\n\n{page.remedy}\n")
    if page.parent:
        parts.append(f"\nTo catch it with others of its kind: `except dp.{page.parent}`.\n")
    return "".join(parts)
