"""A part of a finding, as text."""

from dataclasses import dataclass, field


def show_share(share: float, digits: int = 0) -> str:
    """A share in per cent.

    >>> show_share(0.931), show_share(0.0517, 1)
    ('93 %', '5.2 %')
    """
    return f"{100 * share:.{digits}f} %"


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a finding: sentences, and maybe a table."""

    title: str = ""
    text: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    shares: tuple[tuple[str, float], ...] = field(default=())  # drawn as bars, from 0 to 1

    def lines(self) -> list[str]:
        """The section as lines of text; columns are aligned.

        >>> Section("Sets", columns=("set", "alone"), rows=(("age", "5"),)).lines()
        ['Sets', '  set  alone', '  age  5']
        """
        lines = [self.title] if self.title else []
        lines += self.text
        lines += [f"  {label}: {show_share(share, 1)}" for label, share in self.shares]
        if self.rows:
            table = [self.columns, *self.rows]
            widths = [max(len(row[i]) for row in table) for i in range(len(self.columns))]
            lines += [
                "  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
                for row in table
            ]
        return lines
