"""The stylesheet of pages that stand alone, and the policy that allows nothing else.

The policy names the hash of the stylesheet, so no other style, no script and no request is
possible, wherever the page is opened.
"""

import base64
import hashlib

RESULTS_STYLE = """
:root{--ink:#1b2733;--quiet:#5b6b7a;--paper:#ffffff;--ground:#f3f6f8;--line:#dde4ea;
--accent:#0b5fa5;--soft:#a9cbe8;--track:#e4e9ee;--warn:#a8480b;--warnbg:#fdf1e7}
@media (prefers-color-scheme:dark){:root{--ink:#e8edf2;--quiet:#9fb0bf;--paper:#18222c;
--ground:#10171e;--line:#2b3946;--accent:#5aaef0;--soft:#2f5f88;--track:#2b3946;--warn:#ffb27a;
--warnbg:#33241a}}
*{box-sizing:border-box}
html{font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;color:var(--ink);
background:var(--ground);-webkit-text-size-adjust:100%}
body{margin:0}
main{max-width:46rem;margin:0 auto;padding:2rem 1rem 4rem}
h1{font-size:1.9rem;line-height:1.2;margin:.2rem 0 .6rem;letter-spacing:-.01em}
h2{font-size:1.2rem;line-height:1.3;margin:0 0 .2rem}
h3{font-size:1rem;margin:1.4rem 0 .2rem}
p{margin:.5rem 0}
.eyebrow{color:var(--quiet);font-size:.8rem;letter-spacing:.09em;text-transform:uppercase;
margin:0}
.facts{display:flex;flex-wrap:wrap;gap:.4rem 1.4rem;padding:0;margin:.8rem 0 0;list-style:none;
color:var(--quiet)}
.facts strong{color:var(--ink);font-size:1.15rem}
.card{background:var(--paper);border:1px solid var(--line);border-radius:14px;
padding:1.2rem 1.2rem 1rem;margin:1.1rem 0}
.note{border-inline-start:4px solid var(--accent);padding:.1rem 0 .1rem .9rem;margin:1rem 0;
color:var(--ink)}
.rehearsal{background:var(--warnbg);color:var(--warn);border:2px dashed var(--warn);
border-radius:12px;padding:.7rem 1rem;font-weight:700;margin:1rem 0}
.quietly{color:var(--quiet);font-size:.9rem}
.lead{font-size:1.08rem}
svg.chart{display:block;width:100%;max-width:33rem;height:auto;margin:.6rem 0 .2rem}
svg .ink{fill:var(--ink)}svg .quiet{fill:var(--quiet)}svg .grid{stroke:var(--track)}
svg .bar{fill:var(--accent)}svg .soft{fill:var(--soft)}svg .none{fill:var(--track)}
svg .dot{fill:var(--paper);stroke:var(--accent)}svg .wrong{fill:var(--paper);stroke:var(--warn)}
svg .mark{fill:var(--warn)}
.scroll{overflow-x:auto;background:
linear-gradient(90deg,var(--paper) 40%,transparent) 0 0/2.5rem 100% no-repeat local,
linear-gradient(270deg,var(--paper) 40%,transparent) 100% 0/2.5rem 100% no-repeat local,
linear-gradient(90deg,var(--line),transparent) 0 0/.9rem 100% no-repeat,
linear-gradient(270deg,var(--line),transparent) 100% 0/.9rem 100% no-repeat}
table{border-collapse:collapse;width:100%;font-size:.92rem;margin:.5rem 0;
font-variant-numeric:tabular-nums}
caption{text-align:start;color:var(--quiet);font-size:.85rem;padding-bottom:.3rem}
th,td{text-align:start;padding:.35rem .7rem .35rem 0;border-bottom:1px solid var(--line);
vertical-align:top}
thead th{color:var(--quiet);font-weight:600;font-size:.85rem}
tbody th{font-weight:500}
td.n,th.n{text-align:end}td.n{white-space:nowrap}
summary{cursor:pointer;padding:.5rem 0;min-height:44px;color:var(--accent);font-weight:600}
summary:focus-visible,a:focus-visible,.scroll:focus-visible{outline:3px solid var(--accent);
outline-offset:2px;border-radius:4px}
.key{display:inline-block;width:1.6rem;height:.5rem;border-radius:.3rem;background:var(--accent);
margin-inline-end:.4rem;vertical-align:middle}
.key.thin{height:.25rem;background:var(--soft)}
.key.pale{background:var(--soft)}
a{color:var(--accent)}
code{font-size:.85em;overflow-wrap:anywhere}
@media (max-width:30rem){td.n{white-space:normal}th,td{padding-inline-end:.5rem}
svg.chart{font-size:16px}svg.chart text[font-size]:not(.mark){font-size:14px}}
@media print{html{background:#fff}main{max-width:none;padding:0}.card{break-inside:avoid;
border-color:#bbb}details>*{display:block}}
@media (forced-colors:active){svg .bar,svg .soft{fill:CanvasText}svg .dot{stroke:CanvasText}}
"""


def content_policy(style: str) -> str:
    """The content security policy of a page with this one stylesheet.

    >>> content_policy("b{}").split(";")[0]
    "default-src 'none'"
    """
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


RESULTS_POLICY = content_policy(RESULTS_STYLE)
