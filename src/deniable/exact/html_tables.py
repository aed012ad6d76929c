"""Tables and plain text as HTML, as a notebook shows them. Every text is escaped."""

from collections.abc import Sequence

from deniable.exact.foreign_text import escape_html


def html_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    numeric: Sequence[bool],
    more: int = 0,
    below: str = "",
) -> str:
    """An HTML table, and the lines of `below` after it; `more` counts the rows left out.

    >>> html_table(["ward"], [["<A>"]], [False])
    '<table><thead><tr><th>ward</th></tr></thead><tbody><tr><td>&lt;A&gt;</td></tr></tbody></table>'
    """
    styles = [' style="text-align: right"' if number else "" for number in numeric]

    def write_row(tag: str, cells: Sequence[str]) -> str:
        inner = "".join(
            f"<{tag}{style}>{escape_html(cell)}</{tag}>"
            for cell, style in zip(cells, styles, strict=True)
        )
        return f"<tr>{inner}</tr>"

    body = "".join(write_row("td", row) for row in rows)
    if more > 0:
        body += f'<tr><td colspan="{len(headings)}">{more:,} more rows</td></tr>'
    notes = "<br>".join(escape_html(line) for line in below.splitlines())
    return f"<table><thead>{write_row('th', headings)}</thead><tbody>{body}</tbody></table>" + (
        f"<p>{notes}</p>" if notes else ""
    )


def html_text(text: object) -> str:
    """The text of something, line by line as it prints.

    >>> html_text("0.3 ± 0.1\\n<a>")
    '<pre>0.3 ± 0.1\\n&lt;a&gt;</pre>'
    """
    lines = map(escape_html, str(text).split("\n"))  # escaping would make a line end visible
    return f"<pre>{chr(10).join(lines)}</pre>"
