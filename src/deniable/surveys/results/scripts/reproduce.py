"""Computes every number of results.csv again, from manifest.json and reports.jsonl.

    python reproduce.py [FOLDER]

Needs numpy and scipy only. It ends with status 1 if a number differs.
"""

import csv
import json
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import betaincinv, gammaln, ndtri

Row = dict[str, str]
Array = Any


def invert(channel: dict[str, Any]) -> Array:
    """Readings of a channel with numbered reports: row x, column y."""
    if "table" in channel:
        rows = [[Fraction(w) for w in row] for row in channel["table"]]
        chances = [[float(w / sum(row)) for w in row] for row in rows]
    else:
        keep, k = Fraction("/".join(channel["keep"])), int(channel["any"])
        rest = float((1 - keep) / k)
        chances = [[rest + float(keep) * (x == y) for y in range(k)] for x in range(k)]
    return np.linalg.inv(np.array(chances).T)


class ReportedQuestion:
    """How the reports of one question are read."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.kind, self.private = content["kind"], content["private"]
        self.answers = len(next(iter(content["labels"].values())))
        self.said = self.answers - content["declines"]
        self.channel = content["channel"]
        if self.kind == "number":
            self.low, self.high, step = (Fraction(content[x]) for x in ("low", "high", "step"))
            self.places = int((self.high - self.low) / step)

    def boxes(self, codes: list[str]) -> Array:
        """A row of 0 and 1 for each report."""
        return np.array([[int(digit) for digit in code] for code in codes])

    def supports(self, codes: list[str]) -> Array:
        """Whether each report is, or holds, each answer."""
        channel = self.channel or {}
        if "boxes" in channel or (self.kind == "multiple-choice" and "keep" not in channel):
            return self.boxes(codes)
        numbers = np.array([int(code) for code in codes])
        if self.kind == "multiple-choice":  # all boxes at once: the number of a set
            return numbers[:, None] >> np.arange(self.answers) & 1
        return (numbers[:, None] == np.arange(self.answers)).astype(int)

    def rates(self, answer: int) -> tuple[Fraction, Fraction]:
        """P(report supports the answer), for those who mean it and for all others."""
        if not self.private:
            return Fraction(1), Fraction(0)
        if "keep" in self.channel:
            keep, k = Fraction("/".join(self.channel["keep"])), int(self.channel["any"])
            by_chance = (1 - keep) / k
            if self.kind == "multiple-choice" and answer < self.said:
                by_chance *= 2 ** (self.said - 1)
            return keep + by_chance, by_chance
        rows = [[Fraction(w) for w in row] for row in self.channel["table"]]
        if "boxes" in self.channel:
            answer = 1
        return rows[answer][answer] / sum(rows[answer]), rows[1 - answer][answer] / sum(
            rows[1 - answer]
        )

    def readings(self, codes: list[str]) -> Array:
        """Unbiased readings: one row for each report, one column for each answer."""
        if not self.private:
            return self.supports(codes).astype(float)
        channel = self.channel.get("then", self.channel)
        if "boxes" in channel or self.kind == "multiple-choice":
            rates = np.array([self.rates(a) for a in range(self.answers)], dtype=float)
            p, q = rates.T
            return (self.supports(codes) - q) / (p - q)
        return invert(channel)[:, [int(code) for code in codes]].T

    def parts(self, codes: list[str], answer: int) -> tuple[Array, Array]:
        """The top and the bottom of the ratio that an answer's share, or the mean, is."""
        everybody = np.ones(len(codes))
        if answer >= 0:
            place = answer + 2 if self.kind == "number" else answer
            return self.readings(codes)[:, place], everybody
        if self.kind == "number" and not self.private:
            return np.array([int(code) / self.places for code in codes]), everybody
        read = self.readings(codes)
        if self.kind == "number":
            return read[:, 1], read[:, 0] + read[:, 1]
        return read[:, : self.said] @ np.linspace(0, 1, self.said), read[:, : self.said].sum(
            axis=1
        )

    def limits(self, answer: int) -> tuple[float, float]:
        """What 0 and 1 stand for."""
        if answer >= 0:
            return 0.0, 1.0
        if self.kind == "number":
            return float(self.low), float(self.high)
        return 1.0, float(self.said)


def binomial(yes: int, n: int, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's interval."""
    tail = (1 - confidence) / 2
    low = float(betaincinv(yes, n - yes + 1, tail)) if yes else 0.0
    high = float(betaincinv(yes + 1, n - yes, 1 - tail)) if yes < n else 1.0
    return low, high


def beta_binomial(yes: int, n: int, confidence: float, k: float) -> tuple[float, float]:
    """Robbins' sequence: rates r at which the mixture of likelihoods stays below 1 / alpha."""

    def refuted(r: float) -> bool:
        a, b = k * r, k * (1 - r)
        value = gammaln(a + yes) - gammaln(a) + gammaln(b + n - yes) - gammaln(b)
        value += gammaln(k) - gammaln(k + n) - yes * math.log(r)
        return bool(value - (n - yes) * math.log1p(-r) >= -math.log(1 - confidence))

    ends = []
    for limit in (0.0, 1.0):
        inside, outside = yes / n, limit
        for _ in range(60):
            middle = (inside + outside) / 2
            if 0 < middle < 1 and refuted(middle):
                outside = middle
            else:
                inside = middle
        ends.append(outside)
    return ends[0], ends[1]


def fieller(top: Array, bottom: Array, confidence: float) -> tuple[float, float]:
    """Ratios r with sum(t - r b)^2 <= z^2 (1 + 8 / n) sum((t - r b)^2)."""
    square = float(ndtri((1 + confidence) / 2)) ** 2 * (1 + 8 / len(top))
    a = bottom.sum() ** 2 - square * (bottom**2).sum()
    half = top.sum() * bottom.sum() - square * (top * bottom).sum()
    c = top.sum() ** 2 - square * (top**2).sum()
    kept = [r for r in (0.0, 1.0) if a * r * r - 2 * half * r + c <= 0]
    inside = half * half - a * c
    if inside >= 0 and a != 0:
        roots = ((half + sign * math.sqrt(inside)) / a for sign in (-1, 1))
        kept += [r for r in roots if 0 <= r <= 1]
    return (min(kept), max(kept)) if kept else (math.nan, math.nan)


def betting(
    top: Array, bottom: Array, confidence: float, scale: float, farthest: float
) -> tuple[float, float]:
    """Ratios against which no mixture of bets has won 1 / alpha, cell by cell of a grid."""
    bets = (np.arange(48) + 0.5) / 48 * farthest
    weights = np.exp(-((bets / scale) ** 2) / 2)
    stakes = np.concatenate([-bets, bets])
    logs = np.log(np.tile(weights / (2 * weights.sum()), 2))[:, None]
    pairs, counts = np.unique(np.stack([top, bottom], 1).round(12), axis=0, return_counts=True)

    def kept(edges: Array) -> Array:
        capital = sum(
            n * np.log1p(np.outer(stakes, t - edges * b))
            for (t, b), n in zip(pairs, counts, strict=True)
        )
        least = np.minimum(capital[:, :-1], capital[:, 1:]) + logs
        return np.flatnonzero(
            np.logaddexp.reduce(least, axis=0) < -math.log(1 - confidence) + 1e-9
        )

    ends = []
    for side in (0, -1):
        left, right = 0.0, 1.0
        end = None
        for _ in range(3):
            edges = np.linspace(left, right, 33)
            cells = kept(edges)
            if not cells.size:
                end = math.nan if (left, right) == (0.0, 1.0) else (right, left)[side]
                break
            left, right = float(edges[cells[side]]), float(edges[cells[side] + 1])
        ends.append((left, right)[side] if end is None else end)
    return min(ends), max(ends)


def compute(
    row: Row, questions: dict[str, ReportedQuestion], reports: list[dict[str, str]]
) -> Any:
    """The estimate and the interval of one row of results.csv."""
    question, answer = questions[row["question"]], int(row["answer"])
    used = [r for r in reports[: int(row["reports"])] if row["question"] in r]
    member = None
    if row["by"]:
        by, group = questions[row["by"]], int(row["group"])
        used = [r for r in used if row["by"] in r]
        codes = [r[row["by"]] for r in used]
        if not by.private and row["share_of"] == "group":
            used = [r for r in used if int(r[row["by"]]) == group]
        else:
            member = by.readings(codes)[:, group]
    codes, confidence = [r[row["question"]] for r in used], float(row["confidence"])
    tuning = [float(row[name]) for name in ("tuning_1", "tuning_2") if row[name]]
    if row["method"] in ("binomial", "beta-binomial"):
        p, q = question.rates(answer)
        yes, n = int(question.supports(codes)[:, answer].sum()), len(codes)
        interval = binomial if row["method"] == "binomial" else beta_binomial
        low, high = sorted(
            (end - float(q)) / float(p - q) for end in interval(yes, n, confidence, *tuning)
        )
        value = (Fraction(yes, n) - q) / (p - q)
        share = min(max(float(value), 0.0), 1.0)
        if high < 0 or low > 1:  # no share explains the reports
            return n, share, math.nan, math.nan
        return n, share, max(low, 0.0), min(high, 1.0)
    top, bottom = question.parts(codes, answer)
    if member is not None:
        top = top * member
        bottom = bottom * member if row["share_of"] == "group" else bottom
    ratio_interval = fieller if row["method"] == "fieller" else betting
    low, high = ratio_interval(top, bottom, confidence, *tuning)
    ratio = top.sum() / bottom.sum() if bottom.sum() > 0 else 0.5
    start, end = question.limits(answer)
    scaled = (start + (end - start) * x for x in (min(max(ratio, 0.0), 1.0), low, high))
    return len(codes), *scaled


def main(folder: Path) -> int:
    """Compares every row; prints each that differs. Returns how many do."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    questions = {each["id"]: ReportedQuestion(each) for each in manifest["questions"]}
    reports = []
    for line in (folder / "reports.jsonl").read_text(encoding="utf-8").splitlines():
        answers = json.loads(line)["report"]["a"]
        reports.append({name: code for name, code in answers if "-" not in code})
    for name, question in questions.items():  # a public number may be declined
        if question.kind == "number" and not question.private:
            for report in reports:
                if name in report and int(report[name]) > question.places:
                    del report[name]
    wrong = rows = 0
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows += 1
            n, *numbers = compute(row, questions, reports)
            stated = [float(row[name] or "nan") for name in ("estimate", "low", "high")]
            off = [not _agree(x, y) for x, y in zip(numbers, stated, strict=True)]
            if n != int(row["n"]) or any(off):
                wrong += 1
                print("differs:", row["question"], row["label"], row["by"], row["group_label"])
                print("  stated:", stated, "found:", numbers)
    print(f"{rows - wrong} of {rows} numbers reproduced.")
    return wrong


def _agree(x: float, y: float) -> bool:
    return (math.isnan(x) and math.isnan(y)) or abs(x - y) <= 5e-6 * max(1.0, abs(y))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".")) > 0)
