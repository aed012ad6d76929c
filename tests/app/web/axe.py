"""What axe finds wrong with a page. Only violations leave the browser: to describe all that is
well takes axe longer than its rules, and then Playwright as long again."""

from axe_playwright_python.base import AXE_SCRIPT

RUN = """(options) => axe.run({ ...options, resultTypes: ["violations"] }).then((results) =>
  results.violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)]))"""


def violations(page, *rules):
    """The violated rules, each with its elements; of all rules, or of these only."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(RUN, {"runOnly": list(rules)} if rules else {})
