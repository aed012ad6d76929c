"""The coins of the page, in a real browser, against Python's: same words, same report."""

import json
import random
from fractions import Fraction
from itertools import count

import numpy as np
import pytest

from deniable.app.web.survey.page import read_file
from deniable.mechanisms import NumberOrNot, RandomizedResponse
from deniable.surveys import SurveyQuestion, design_question
from deniable.surveys.questionnaire.channel_shapes import channel_of
from deniable.surveys.questionnaire.channels import BoxesChannel, DitherChannel, KeepChannel

pytestmark = pytest.mark.needs("chromium")

WORD = 1 << 64
OPTIONS = [str(i) for i in range(40)]
NUMBER = {"kind": "number", "low": 0.0, "high": 100.0, "step": 0.5}
QUESTIONS = {
    "two coins": {"kind": "yes-no", "design": "two-coins"},
    "a die": {"kind": "yes-no", "design": "die"},
    "ten cards": {"kind": "yes-no", "design": "cards"},
    "warner": {"kind": "yes-no", "design": {"warner": "2/3"}},
    "yes-no": {"kind": "yes-no"},
    "yes-no or not": {"kind": "yes-no", "prefer_not_to_say": True},
    "one of six": {"kind": "single-choice", "options": OPTIONS[:6]},
    "one of forty": {"kind": "single-choice", "options": OPTIONS},
    "boxes at once": {"kind": "multiple-choice", "options": OPTIONS[:3], "odds": 40.0},
    "boxes apart": {
        "kind": "multiple-choice",
        "options": OPTIONS[:8],
        "prefer_not_to_say": True,
    },
    "a scale": {"kind": "scale", "points": 5},
    "a long scale": {"kind": "scale", "points": 11},
    "a scale or not": {"kind": "scale", "points": 7, "prefer_not_to_say": True},
    "a number": NUMBER,
    "a number or not": {**NUMBER, "prefer_not_to_say": True},
}
RUN = """([channel, cases]) => JSON.parse(cases).map(([truth, words]) => {
    let i = 0;
    const draw = (bits) => {
        if (i >= words.length) throw "more";
        return BigInt(words[i++]) >> (64n - bits);
    };
    try {
        return [randomize(channel, truth, draw), i];
    } catch (problem) {
        return [String(problem), i];
    }
})"""


class TopBits:
    """Words of 64 bits. A draw of fewer takes the top bits of a word, as the page does."""

    def __init__(self, words, *, plain=False):
        self.words, self.used, self.plain = iter(words), [], plain

    def draw(self, bits, count):
        drawn = [next(self.words) for _ in range(count)]
        self.used += drawn
        words = [word >> (64 - bits) for word in drawn]
        return words if self.plain else np.array(words, dtype=np.uint64)


def designed(name):
    return design_question(SurveyQuestion(id="a", text="?", **QUESTIONS[name]), Fraction(1))


def boundaries(channel):
    """The words of 64 bits that leave a coin of the channel undecided."""
    if isinstance(channel, DitherChannel):
        return boundaries(channel.then)
    if isinstance(channel, BoxesChannel):
        return boundaries(channel.table)
    if isinstance(channel, KeepChannel):
        shares = [channel.keep]
    else:
        shares = [
            Fraction(sum(row[-i:]), sum(row))
            for row in channel.weights
            for i in range(1, len(row))
        ]
    return [int(share * WORD) for share in shares if (share * WORD).denominator > 1]


def draw_truth(channel, chance):
    if isinstance(channel, BoxesChannel):
        if channel.ticks == "any":
            return [chance.randrange(2) for _ in range(channel.boxes)]
        ticked = chance.randrange(channel.boxes)
        return [int(i == ticked) for i in range(channel.boxes)]
    if isinstance(channel, DitherChannel):
        return chance.randrange(-1 if channel.reports == 3 else 0, channel.steps + 1)
    return chance.randrange(channel.answers)


def draw_words(channel, chance):
    """Random words. One in ten lies on a boundary, where a coin needs a second one."""
    edges = boundaries(channel)
    while True:
        on_edge = edges and chance.random() < 0.1
        yield chance.choice(edges) if on_edge else chance.getrandbits(64)


def load_coins(chromium, change=lambda text: text):
    page = chromium.new_context().new_page()
    page.add_script_tag(content=change(read_file("coins.js").decode()))
    return page


@pytest.fixture(scope="module")
def coins(chromium_of_worker):
    return load_coins(chromium_of_worker)


def differences(page, channel, cases, chance):
    """How many cases end otherwise, or take another number of words, than in Python."""
    words, listed, expected = draw_words(channel, chance), [], []
    for _ in range(cases):
        source, truth = TopBits(words, plain=True), draw_truth(channel, chance)
        expected.append([channel.randomize(truth, source=source), len(source.used)])
        more = [str(word) for word in (*source.used, next(words), next(words))]
        listed.append([truth, more])
    actual = page.evaluate(RUN, [channel.to_json(), json.dumps(listed)])
    return sum(a != b for a, b in zip(expected, actual, strict=True))


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_same_words_give_the_same_report(coins, name, size):
    channel, chance = channel_of(designed(name)), random.Random(name)
    left = size(small=60, full=100_000, what="scripted coin cases of each design")
    while left > 0:
        assert differences(coins, channel, min(left, 2000), chance) == 0
        left -= 2000


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("a coin of 32 bits", ("const WORD = 64n", "const WORD = 32n")),
        ("a coin that rounds up", ("high <= (below << bits)", "low <= (below << bits)")),
        (
            "rows in another order",
            ("x = table.length - 1; x >= 0; x--", "x = 0; x < table.length; x++"),
        ),
        (
            "a coin that only falls if it matters",
            ("keep ? answer : other", "keep ? answer : 0"),
        ),
        (
            "too large a number is cut",
            ("if (value < limit) return value", "return value % limit"),
        ),
    ],
)
def test_other_coins_are_noticed(chromium, what, change):
    """The comparison has power: a small change of the coins makes a difference."""
    assert change[0] in read_file("coins.js").decode()
    broken = load_coins(chromium, lambda text: text.replace(*change))
    chance, total = random.Random(what), 0
    for name in ("warner", "yes-no", "one of six", "a number or not"):
        channel = channel_of(designed(name))
        total += differences(broken, channel, 100, chance)
    assert total > 0


@pytest.mark.parametrize("name", ["two coins", "yes-no", "one of six", "a number or not"])
def test_python_and_page_follow_the_design_itself(name, size):
    """The reference is no copy: it draws what `randomize` of the design draws."""
    question = designed(name)
    channel, design, chance = channel_of(question), question.design, random.Random(name)
    assert isinstance(design, RandomizedResponse | NumberOrNot)
    cases = size(small=100, full=10_000, what="scripted draws of designs and their channels")
    for _ in range(cases):
        answer = truth = draw_truth(channel, chance)
        ours = TopBits(draw_words(channel, chance))
        report = channel.randomize(truth, source=ours)
        theirs = TopBits(ours.used)
        if isinstance(design, NumberOrNot):
            answer = float("nan") if truth < 0 else float(design.low + truth * design.step)
        assert design.randomize([answer], source=theirs)[0] == report
        assert theirs.used == ours.used


ENUMERATE = """([what, channel, truth, depth]) => {
    const all = 1n << BigInt(depth), found = {};
    let open = 0n;
    const go = (script) => {
        let i = 0;
        const draw = (bits) => {
            let value = 0n;
            for (let k = 0n; k < bits; k++) {
                if (i >= script.length) throw "more";
                value = (value << 1n) | script[i++];
            }
            return value;
        };
        let report;
        try {
            report = what === "row" ? drawWeighted(channel.map(BigInt), draw)
                : what === "below" ? Number(drawBelow(BigInt(channel), draw))
                : randomize(channel, truth, draw);
        } catch (problem) {
            if (problem !== "more") throw problem;
            if (script.length === depth) { open += 1n; return; }
            for (const bit of [0n, 1n]) go([...script, bit]);
            return;
        }
        const weight = 1n << BigInt(depth - script.length);
        found[report] = (found[report] ?? 0n) + weight;
    };
    go([]);
    for (const report in found) found[report] = String(found[report]);
    return [found, String(open), String(all)];
}"""


def brackets(page, what, channel, truth, exact):
    """Whether the strings of 12 bits leave room for exactly these probabilities, and decide."""
    heads, left, every = page.evaluate(ENUMERATE, [what, channel, truth, 12])
    share = {int(key): Fraction(int(value), int(every)) for key, value in heads.items()}
    assert sum(share.values()) + Fraction(int(left), int(every)) == 1
    for report, probability in exact.items():
        low = share.get(report, Fraction(0))
        assert low <= probability <= low + Fraction(int(left), int(every))
    return Fraction(int(left), int(every))


@pytest.fixture(scope="module")
def bit_by_bit(chromium_of_worker):
    return load_coins(chromium_of_worker, lambda text: text.replace("WORD = 64n", "WORD = 1n"))


@pytest.mark.parametrize("name", QUESTIONS)
def test_all_strings_of_twelve_bits_bracket_the_probabilities(bit_by_bit, name):
    page = bit_by_bit
    channel = channel_of(designed(name))
    inner = channel.then if isinstance(channel, DitherChannel) else channel
    table = inner.table if isinstance(inner, BoxesChannel) else inner
    if isinstance(table, KeepChannel):
        rows = [(table.keep.denominator - table.keep.numerator, table.keep.numerator)]
        even = {y: Fraction(1, table.any_of) for y in range(table.any_of)}
        brackets(page, "below", str(table.any_of), None, even)
    else:
        rows = table.weights
    for row in rows:
        exact = {y: Fraction(weight, sum(row)) for y, weight in enumerate(row)}
        left = brackets(page, "row", [str(weight) for weight in row], None, exact)
        assert left <= Fraction(len(row) - 1, 1 << 11)  # the strings decide nearly all
    if not isinstance(channel, BoxesChannel):
        truths = [0, 1] if not isinstance(channel, DitherChannel) else [0, 3, channel.steps]
        for truth in truths:
            exact = {y: channel.probability(y, truth) for y in range(channel.reports)}
            brackets(page, "whole", channel.to_json(), truth, exact)


def test_the_systems_bits_are_used_and_nothing_else(coins, size):
    """Real draws follow the channel, while `Math.random` throws."""
    channel = channel_of(designed("yes-no"))
    draws = size(small=4000, full=400_000, what="draws in the browser")
    yes = coins.evaluate(
        """([channel, draws]) => {
            Math.random = () => { throw new Error("not this one"); };
            let yes = [0, 0];
            for (let i = 0; i < draws; i++) {
                for (const truth of [0, 1]) yes[truth] += randomize(channel, truth);
            }
            return yes;
        }""",
        [channel.to_json(), draws],
    )
    for truth, number in zip(count(), yes, strict=False):
        share = float(channel.probability(1, truth))
        assert abs(number - draws * share) < 6.5 * (draws * share * (1 - share)) ** 0.5
