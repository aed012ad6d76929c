"""Measured limits: they print as text and show themselves in a notebook."""

from pathlib import Path

from deniable.release.limits.limits_page import write_body
from deniable.release.limits.limits_text import write_text
from deniable.release.limits.measured_limits import MeasuredLimits
from deniable.release.profile.profile_page import PAGE_CSS


class LimitsReport(MeasuredLimits):
    """What limits on one unit's groups and rows leave out, and the limits to choose.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = [(who, "AB"[i % 2]) for who in range(3000) for i in range(who % 4 + 1)]
    >>> visits = pa.table({"patient": [r[0] for r in rows], "ward": [r[1] for r in rows]})
    >>> limits = {"unit": "patient", "max_groups_per_unit": 1, "max_rows_per_unit_per_group": 1}
    >>> data = dp.protect(visits, keys={"ward": ["A", "B"]}, epsilon=9, **limits)
    >>> measured = data.limits(by="ward", epsilon=4)
    >>> measured.recommended.groups
    2
    >>> share = measured.choice(groups=1, rows=1).left_out  # truly 4500 of 7500 rows
    >>> 0.55 < share.value < 0.65
    True
    """

    def __str__(self) -> str:
        return write_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return write_body(self)

    def page(self) -> str:
        """The limits as one HTML page that loads no other file."""
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>Limits</title><style>{PAGE_CSS}</style></head>"
            f'<body class="page">{write_body(self)}</body></html>\n'
        )

    def save(self, path: str) -> None:
        """Writes the page to a file."""
        Path(path).write_text(self.page(), encoding="utf-8")
