"""Doubles in PostgreSQL's words, which raise where they leave their range; these do not.

A sum, product or quotient that may be too large or too small is first made with doubles that
are smaller or larger by a power of two, which shows whether it is a double at all. A power is
infinite, or zero, just before it could leave the range. A remainder is exact: both doubles are
taken apart into a mantissa and a power of two, and the rest is counted in integers.
"""

_TOO_LARGE = str(2**1024 - 2**970)  # rounds to no double
_TOO_SMALL = "2.4703282292062328e-324"
_INFINITE, _MINUS_INFINITE = "'Infinity'::float8", "'-Infinity'::float8"
_NAN = "'NaN'::float8"
_HALF = f"'{2.0**1023!r}'::float8"
_SMALLER, _LARGER = f"'{2.0**-512!r}'::float8", f"'{2.0**512!r}'::float8"
_LEAST = f"'{2.0**-51!r}'::float8"  # what is rounded to zero, times 2^1024
_STEEPEST, _FLATTEST = "709.7827", "-708.396"  # powers of e that are doubles of full length


def to_double(one: str) -> str:
    """A numeric as a double: infinite, or zero, where it is out of reach."""
    return (
        f"CASE WHEN {one} = 'NaN' THEN 'NaN'::float8 "
        f"WHEN {one} >= {_TOO_LARGE} THEN 'Infinity'::float8 "
        f"WHEN {one} <= -{_TOO_LARGE} THEN '-Infinity'::float8 "
        f"WHEN ABS({one}) < {_TOO_SMALL} THEN 0::float8 ELSE ({one})::float8 END"
    )


def round_to_even(one: str, half: int) -> str:
    """A double as an integer, to the even neighbour; NULL where it does not fit."""
    near = f"ROUND({one}) >= -{half}::float8 AND ROUND({one}) < {half}::float8"
    return f"CASE WHEN {near} THEN ROUND({one})::bigint END"


def round_half_away(one: str) -> str:
    """The nearest integer, of two the one farther from zero, as a double."""
    half = f"ABS({one} - TRUNC({one})) >= 0.5"
    return f"TRUNC({one}) + CASE WHEN {half} THEN SIGN({one}) ELSE 0 END"


def add(sign: str, left: str, right: str) -> str:
    """Two doubles added or subtracted; where two large ones would leave the range, their
    halves add up to 2^1023."""
    plain, large, small = f"{left} {sign} {right}", "'8e307'::float8", "'1e290'::float8"
    half = f"({left} * 0.5 {sign} {right} * 0.5)"
    return (
        f"CASE WHEN ABS({left}) < {large} AND ABS({right}) < {large} THEN {plain} "
        f"WHEN ABS({left}) < {small} OR ABS({right}) < {small} THEN {plain} "
        f"WHEN {left} IS NULL OR {right} IS NULL THEN NULL WHEN {half} = {_NAN} THEN {_NAN} "
        f"WHEN {half} >= {_HALF} THEN {_INFINITE} WHEN {half} <= -{_HALF} THEN {_MINUS_INFINITE} "
        f"ELSE {plain} END"
    )


def multiply(sign: str, left: str, right: str) -> str:
    """Two doubles multiplied."""
    size = f"LN(ABS({left})) + LN(ABS({right}))"
    beyond = f"({left} * {_SMALLER}) * ({right} * {_SMALLER})"
    below = f"({left} * {_LARGER}) * ({right} * {_LARGER})"
    return f"CASE {_branches_by_size('*', left, right, size, beyond, below)} END"


def divide(sign: str, left: str, right: str) -> str:
    """Two doubles divided; NULL where the divisor is 0."""
    size = f"LN(ABS({left})) - LN(ABS({right}))"
    beyond = f"({left} * {_SMALLER}) / ({right} * {_LARGER})"
    below = f"({left} * {_LARGER}) / ({right} * {_SMALLER})"
    scaled = _branches_by_size("/", left, right, size, beyond, below)
    return f"CASE WHEN {right} = 0 THEN NULL {scaled} END"


def _branches_by_size(
    sign: str, left: str, right: str, size: str, beyond: str, below: str
) -> str:
    """The branches of a product or quotient, by the logarithm of its size.

    `beyond` is the result times 2^-1024, and `below` it times 2^1024: they tell, where the
    result is large or small, whether it is a double."""
    plain = f"{left} {sign} {right}"
    usual = " AND ".join(
        f"(ABS({one}) BETWEEN '1e-150'::float8 AND '1e150'::float8 OR {one} = 0)"
        for one in (left, right)
    )
    special = " OR ".join(
        f"{one} IN (0, 'NaN', 'Infinity', '-Infinity')" for one in (left, right)
    )
    return (
        f"WHEN {usual} THEN {plain} WHEN {special} THEN {plain} "
        f"WHEN {size} > 700 THEN CASE WHEN {size} < 710 AND ABS({beyond}) < 1 THEN {plain} "
        f"WHEN ({left} < 0) = ({right} < 0) THEN {_INFINITE} ELSE {_MINUS_INFINITE} END "
        f"WHEN {size} < -700 THEN CASE WHEN {size} > -746 AND ABS({below}) > {_LEAST} "
        f"THEN {plain} ELSE 0::float8 END ELSE {plain}"
    )


def transcendental(name: str, one: str) -> str:
    """exp, ln, log10, sin or cos of a double."""
    if name == "exp":
        return (
            f"CASE WHEN {one} < {_FLATTEST} THEN 0::float8 WHEN {one} = {_NAN} THEN {one} "
            f"WHEN {one} > {_STEEPEST} THEN {_INFINITE} ELSE EXP({one}) END"
        )
    if name in ("sin", "cos"):
        return f"CASE WHEN ABS({one}) = {_INFINITE} THEN {_NAN} ELSE {name.upper()}({one}) END"
    word = "LN" if name == "ln" else "LOG"
    return f"{word}(CASE WHEN {one} > 0 THEN {one} END)"


def power(base: str, exponent: str) -> str:
    """One double to the power of another."""
    whole = f"FLOOR({exponent}) = {exponent}"
    odd = f"{whole} AND {exponent} / 2 <> TRUNC({exponent} / 2)"
    size = f"{exponent} * LN(ABS({base}))"
    special = "'NaN', 'Infinity', '-Infinity'"
    return (
        f"CASE WHEN {base} < 0 AND NOT {whole} THEN NULL "
        f"WHEN {base} = 0 AND {exponent} < 0 THEN CASE "
        f"WHEN {base}::text = '-0' AND {odd} THEN {_MINUS_INFINITE} ELSE {_INFINITE} END "
        f"WHEN {base} IN (0, {special}) OR {exponent} IN (0, {special}) "
        f"THEN POWER({base}, {exponent}) WHEN {size} > {_STEEPEST} AND {base} < 0 AND {odd} "
        f"THEN {_MINUS_INFINITE} WHEN {size} > {_STEEPEST} THEN {_INFINITE} "
        f"WHEN {size} < {_FLATTEST} THEN 0::float8 ELSE POWER({base}, {exponent}) END"
    )


def remainder(left: str, right: str) -> str:
    """What is left of a double, with its sign; exact, as C's fmod."""
    whole = f"{left} = TRUNC({left}) AND {right} = TRUNC({right}) AND ABS({left}) < 9e15"
    counted = f"MOD(ABS({left})::bigint, ABS({right})::bigint)::float8"
    return (
        f"CASE WHEN {left} IS NULL OR {right} IS NULL OR {right} = 0 THEN NULL "
        f"WHEN {left} IN ({_NAN}, {_INFINITE}, {_MINUS_INFINITE}) "
        f"OR {right} = {_NAN} THEN {_NAN} WHEN ABS({left}) < ABS({right}) THEN {left} "
        f"ELSE (CASE WHEN {left} < 0 THEN -1 ELSE 1 END)::float8 * "
        f"CASE WHEN {whole} THEN {counted} ELSE {_exact_remainder(left, right)} END END"
    )


def _exact_remainder(left: str, right: str) -> str:
    """m 2^e modulo n 2^f, of which e is the greater: (m 2^(e - f) modulo n) 2^f."""
    bits = "('x' || ENCODE(FLOAT8SEND(ABS({})), 'hex'))::bit(64)::bigint"
    bound = f"SELECT {bits.format(left)} AS l, {bits.format(right)} AS r OFFSET 0"
    mantissa = "(({0} & 4503599627370495) + CASE WHEN {0} >> 52 > 0 THEN 4503599627370496 "
    mantissa += "ELSE 0 END)::numeric"
    shift = "GREATEST({0} >> 52, 1)"
    parts = f"SELECT {mantissa.format('l')} AS m, {mantissa.format('r')} AS n, "
    parts += f"{shift.format('l')} - {shift.format('r')} AS more, "
    parts += f"({shift.format('r')} - 1075)::int AS f FROM ({bound}) AS bits OFFSET 0"
    rest = "MOD(m * POWER(2::numeric, more), n)::float8"
    two = "POWER(2::float8, {})"  # in two steps, since one could be too small for a double
    return (
        f"(SELECT {rest} * {two.format('f / 2')} * {two.format('(f - f / 2)')} "
        f"FROM ({parts}) AS parts)"
    )
