"""Releases and certificates, changed in every way that a file can be changed."""

import copy
import json
import re
from contextlib import suppress

from deniable.ledger import Head
from deniable.ledger.stores.signing_keys import SigningKey
from deniable.query.plan import canonical
from deniable.release.certificate.certificate import document_text, signed_message

ODD = [
    *(None, True, False, 0, 1, -1, 2, 10**18, 10**30, -(10**18), 0.5, -0.0, 1e308, 5e-324),
    *("", "0", "1", "-1", "1/3", "1/0", "9" * 400, f"1/{'9' * 400}", "1e10000000", "x" * 5000),
    *("inf", "nan", "\x1b[2J", "\ud800", "ü", "DuckDB", [], {}, [[]], {"class": "Plan"}),
    *({"class": "range", "first": 0, "count": 10**8}, {"class": "Number", "value": "1"}),
]


def places(value, path=()):
    """Every place in a document, with the way to it."""
    yield path
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in pairs:
            yield from places(inner, (*path, name))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def change_tree(document, rng):
    """A copy of the document with one field added, removed, retyped, nested or doubled."""
    changed = copy.deepcopy(document)
    path = rng.choice([path for path in places(changed) if path])
    inside, name = at(changed, path[:-1]), path[-1]
    way = rng.choice(["add", "remove", "retype", "nest", "double", "swap"])
    member = inside[name]
    if way == "add" and isinstance(member, dict):
        member[rng.choice(["note", "left", "", "class", "certificate", "\x1b"])] = rng.choice(
            ODD
        )
    elif way in ("add", "double") and isinstance(member, list):
        member.insert(0, copy.deepcopy(rng.choice([*member, *ODD])))
    elif way == "remove":
        del inside[name]
    elif way == "nest":
        inside[name] = rng.choice([[member], {"value": member}, {"0": member}])
    elif way == "swap" and isinstance(member, list):
        rng.shuffle(member)
    elif isinstance(member, bool | int | float) and rng.random() < 0.5:
        inside[name] = rng.choice(
            [str(member), float(member), member + 1, bool(member), -member]
        )
    else:
        inside[name] = copy.deepcopy(rng.choice(ODD))
    return changed


def change_text(text, rng):
    """The text with other spaces, spellings or escapes, a key twice, or cut off."""
    ways = [_space, _spell, _escape, _repeat, _cut, _reorder, _indent, _splice, _ends]
    return rng.choice(ways)(text, rng)


def _space(text, rng):
    spot = rng.choice([match.start() for match in re.finditer("[{}:,]", text)])
    return text[:spot] + rng.choice([" ", "\n", "\t", "\r\n", "\x00", "\u00a0"]) + text[spot:]


def _spell(text, rng):
    """A number, written in another way."""
    match = rng.choice(list(re.finditer(r"(?<=[:,\[])-?[0-9]+(\.[0-9]+)?(?=[,}\]])", text)))
    number = match.group()
    spelt = rng.choice(
        [
            *(f"{number}e0", f"+{number}", f"0{number}", f"{number}E+00", f'"{number}"'),
            *(f"{number}0" if "." in number else f"{number}.0", "NaN", "-Infinity", "1e999"),
            *("1e10000000", "1" * 5000, "9" * 400, f"{number}{'0' * 300}"),
        ]
    )
    return text[: match.start()] + spelt + text[match.end() :]


def _escape(text, rng):
    """A character of a string as an escape, or an escape as a character."""
    match = rng.choice(list(re.finditer(r'(?<=")[a-zA-Z_ /*(]+(?=[^"]*")', text)))
    spot = rng.randrange(match.start(), match.end())
    letter = text[spot]
    other = rng.choice(
        [f"\\u{ord(letter):04x}", f"{letter}\\u0000", f"{letter}\u202e", f"{letter}\\ud800"]
    )
    return text[:spot] + other + text[spot + 1 :]


def _repeat(text, rng):
    """A field twice, with the same value or another."""
    match = rng.choice(list(re.finditer(r'(?<=[{,])("[^"]+"):("[^"]*"|[0-9.]+|null)', text)))
    value = rng.choice([match.group(2), "null", "1", '"1"'])
    return text[: match.start()] + f"{match.group(1)}:{value}," + text[match.start() :]


def _cut(text, rng):
    return text[: rng.randrange(len(text))]


def _reorder(text, rng):
    """The fields of one object in another order."""
    document = json.loads(text)
    objects = [at(document, path) for path in places(document)]
    chosen = rng.choice([item for item in objects if isinstance(item, dict) and len(item) > 1])
    names = list(chosen)
    rng.shuffle(names)
    if names == list(chosen):
        names.reverse()
    fields = {name: chosen.pop(name) for name in names}
    chosen |= fields
    return json.dumps(document, separators=(",", ":")) + "\n"


def _indent(text, rng):
    document = json.loads(text)
    ways = [{"indent": 2}, {"sort_keys": True}, {"sort_keys": True, "separators": (",", ": ")}]
    return json.dumps(document, **rng.choice(ways)) + "\n"


def _splice(text, rng):
    """Something far too deep, long or wide in one place."""
    spot = rng.choice([match.end() for match in re.finditer("[:,]", text)])
    large = ["[" * 100_000, '{"a":' * 5000, '"' + "x" * 1_000_000, "[1," * 100_000, "[],"]
    return text[:spot] + rng.choice(large) + text[spot:]


def _ends(text, rng):
    return rng.choice(
        [text[:-1], text + "\n", f"\ufeff{text}", f" {text}", text + text, "[" + text]
    )


def mutation(document, rng):
    """One text that is not the release or certificate, however it was made from it."""
    text = document_text(document)
    while True:
        if rng.random() < 0.5:
            tree = change_tree(document, rng)
            changed = json.dumps(tree, sort_keys=True, separators=(",", ":")) + "\n"
        else:
            changed = change_text(text, rng)
        if changed != text:
            return changed


STRANGER = SigningKey.new()


def resigned(document, rng):
    """A certificate with changes, signed throughout with a stranger's key."""
    certificate = copy.deepcopy(document["certificate"])
    for _ in range(rng.randint(1, 3)):
        part = rng.choice(["plan", "plan", "statement"])
        certificate[part] = change_tree(certificate[part], rng)
    sign_again({"certificate": certificate})
    return json.dumps(certificate, sort_keys=True, separators=(",", ":")) + "\n"


def sign_again(document):
    """Signs a release's certificate, whatever it says now, with a stranger's key."""
    certificate = document["certificate"]
    statement = certificate["statement"]
    plan_hash = canonical.digest_json(certificate["plan"])
    statement |= {"plan_hash": plan_hash, "key": STRANGER.public}
    with suppress(KeyError, TypeError, UnicodeEncodeError):  # no head is left to sign
        head = statement["ledger"]["head"]
        head["signature"] = STRANGER.sign(Head(**head).message)
    value = STRANGER.sign(signed_message(statement))
    certificate["signature"] |= {"key": STRANGER.public, "value": value}
