"""SQL for arithmetic of doubles that never raises, as PostgreSQL's own does out of range.

If a sum, product or quotient may be too large or too small, it is first computed with doubles
that are scaled by a power of two, which shows whether the result is a double. A power becomes
infinite, or zero, just before it could leave the range. A remainder is exact: both doubles are
split into a mantissa and a power of two, and the remainder is computed in integers.
"""

_TOO_LARGE = str(2**1024 - 2**970)  # does not round to a finite double
_TOO_SMALL = "2.4703282292062328e-324"
_INFINITE, _MINUS_INFINITE = "'Infinity'::float8", "'-Infinity'::float8"
_NAN = "'NaN'::float8"
_HALF = f"'{2.0**1023!r}'::float8"
_SMALLER, _LARGER = f"'{2.0**-512!r}'::float8", f"'{2.0**512!r}'::float8"
_LEAST = f"'{2.0**-51!r}'::float8"  # the limit of rounding to zero, times 2^1024
_STEEPEST, _FLATTEST = "709.7827", "-708.396"  # e to these powers is a double of full precision


def to_double(number: str) -> str:
    """A numeric as a double: infinite, or zero, if it is out of range."""
    return (
        f"CASE WHEN {number} = 'NaN' THEN 'NaN'::float8 "
        f"WHEN {number} >= {_TOO_LARGE} THEN 'Infinity'::float8 "
        f"WHEN {number} <= -{_TOO_LARGE} THEN '-Infinity'::float8 "
        f"WHEN ABS({number}) < {_TOO_SMALL} THEN 0::float8 ELSE ({number})::float8 END"
    )


def round_to_even(number: str, limit: int) -> str:
    """A double as an integer, rounded half to even; NULL if it does not fit."""
    fits = f"ROUND({number}) >= -{limit}::float8 AND ROUND({number}) < {limit}::float8"
    return f"CASE WHEN {fits} THEN ROUND({number})::bigint END"


def round_half_away(number: str) -> str:
    """The nearest integer, rounded half away from zero, as a double."""
    half = f"ABS({number} - TRUNC({number})) >= 0.5"
    return f"TRUNC({number}) + CASE WHEN {half} THEN SIGN({number}) ELSE 0 END"


def add(sign: str, left: str, right: str) -> str:
    """The sum or difference of two doubles. If it leaves the range, the sum of the halves is
    at least 2^1023."""
    plain, large, small = f"{left} {sign} {right}", "'8e307'::float8", "'1e290'::float8"
    half = f"({left} * 0.5 {sign} {right} * 0.5)"
    return (
        f"CASE WHEN ABS({left}) < {large} AND ABS({right}) < {large} THEN {plain} "
        f"WHEN ABS({left}) < {small} OR ABS({right}) < {small} THEN {plain} "
        f"WHEN {left} IS NULL OR {right} IS NULL THEN NULL WHEN {half} = {_NAN} THEN {_NAN} "
        f"WHEN {half} >= {_HALF} THEN {_INFINITE} "
        f"WHEN {half} <= -{_HALF} THEN {_MINUS_INFINITE} ELSE {plain} END"
    )


def multiply(sign: str, left: str, right: str) -> str:
    """The product of two doubles."""
    size = f"LN(ABS({left})) + LN(ABS({right}))"
    beyond = f"({left} * {_SMALLER}) * ({right} * {_SMALLER})"
    below = f"({left} * {_LARGER}) * ({right} * {_LARGER})"
    return f"CASE {_branches_by_size('*', left, right, size, beyond, below)} END"


def divide(sign: str, left: str, right: str) -> str:
    """The quotient of two doubles; NULL if the divisor is 0."""
    size = f"LN(ABS({left})) - LN(ABS({right}))"
    beyond = f"({left} * {_SMALLER}) / ({right} * {_LARGER})"
    below = f"({left} * {_LARGER}) / ({right} * {_SMALLER})"
    scaled = _branches_by_size("/", left, right, size, beyond, below)
    return f"CASE WHEN {right} = 0 THEN NULL {scaled} END"


def _branches_by_size(
    sign: str, left: str, right: str, size: str, beyond: str, below: str
) -> str:
    """The branches of a product or quotient, by the logarithm of its size.

    `beyond` is the result times 2^-1024, and `below` is the result times 2^1024: they show
    whether a large or small result is a double."""
    plain = f"{left} {sign} {right}"
    usual = " AND ".join(
        f"(ABS({operand}) BETWEEN '1e-150'::float8 AND '1e150'::float8 OR {operand} = 0)"
        for operand in (left, right)
    )
    special = " OR ".join(
        f"{operand} IN (0, 'NaN', 'Infinity', '-Infinity')" for operand in (left, right)
    )
    return (
        f"WHEN {usual} THEN {plain} WHEN {special} THEN {plain} "
        f"WHEN {size} > 700 THEN CASE WHEN {size} < 710 AND ABS({beyond}) < 1 THEN {plain} "
        f"WHEN ({left} < 0) = ({right} < 0) THEN {_INFINITE} ELSE {_MINUS_INFINITE} END "
        f"WHEN {size} < -700 THEN CASE WHEN {size} > -746 AND ABS({below}) > {_LEAST} "
        f"THEN {plain} ELSE 0::float8 END ELSE {plain}"
    )


def transcendental(name: str, number: str) -> str:
    """exp, ln, log10, sin or cos of a double."""
    if name == "exp":
        return (
            f"CASE WHEN {number} < {_FLATTEST} THEN 0::float8 "
            f"WHEN {number} = {_NAN} THEN {number} "
            f"WHEN {number} > {_STEEPEST} THEN {_INFINITE} ELSE EXP({number}) END"
        )
    if name in ("sin", "cos"):
        plain = f"{name.upper()}({number})"
        return f"CASE WHEN ABS({number}) = {_INFINITE} THEN {_NAN} ELSE {plain} END"
    function = "LN" if name == "ln" else "LOG"
    return f"{function}(CASE WHEN {number} > 0 THEN {number} END)"


def power(base: str, exponent: str) -> str:
    """One double to the power of another."""
    whole = f"FLOOR({exponent}) = {exponent}"
    odd = f"{whole} AND {exponent} / 2 <> TRUNC({exponent} / 2)"
    size = f"{exponent} * LN(ABS({base}))"
    special = "'NaN', 'Infinity', '-Infinity'"
    return (
        f"CASE WHEN {base} < 0 AND NOT {whole} THEN NULL "
        f"WHEN {base} = 0 AND {exponent} < 0 THEN {_INFINITE} "
        f"WHEN {base} IN (0, {special}) OR {exponent} IN (0, {special}) "
        f"THEN POWER({base}, {exponent}) WHEN {size} > {_STEEPEST} AND {base} < 0 AND {odd} "
        f"THEN {_MINUS_INFINITE} WHEN {size} > {_STEEPEST} THEN {_INFINITE} "
        f"WHEN {size} < {_FLATTEST} THEN 0::float8 ELSE POWER({base}, {exponent}) END"
    )


def remainder(left: str, right: str) -> str:
    """The remainder of two doubles, with the sign of `left`; exact, as C's fmod."""
    whole = f"{left} = TRUNC({left}) AND {right} = TRUNC({right}) AND ABS({left}) < 9e15"
    integer_remainder = f"MOD(ABS({left})::bigint, ABS({right})::bigint)::float8"
    return (
        f"CASE WHEN {left} IS NULL OR {right} IS NULL OR {right} = 0 THEN NULL "
        f"WHEN {left} IN ({_NAN}, {_INFINITE}, {_MINUS_INFINITE}) "
        f"OR {right} = {_NAN} THEN {_NAN} WHEN ABS({left}) < ABS({right}) THEN {left} "
        f"ELSE (CASE WHEN {left} < 0 THEN -1 ELSE 1 END)::float8 * "
        f"CASE WHEN {whole} THEN {integer_remainder} "
        f"ELSE {_exact_remainder(left, right)} END END"
    )


def _exact_remainder(left: str, right: str) -> str:
    """m 2^e modulo n 2^f, with e >= f: (m 2^(e - f) modulo n) 2^f."""
    bits = "('x' || ENCODE(FLOAT8SEND(ABS({})), 'hex'))::bit(64)::bigint"
    bound = f"SELECT {bits.format(left)} AS l, {bits.format(right)} AS r OFFSET 0"
    mantissa = "(({0} & 4503599627370495) + CASE WHEN {0} >> 52 > 0 THEN 4503599627370496 "
    mantissa += "ELSE 0 END)::numeric"
    shift = "GREATEST({0} >> 52, 1)"
    parts = f"SELECT {mantissa.format('l')} AS m, {mantissa.format('r')} AS n, "
    parts += f"{shift.format('l')} - {shift.format('r')} AS more, "
    parts += f"({shift.format('r')} - 1075)::int AS f FROM ({bound}) AS bits OFFSET 0"
    rest = "MOD(m * POWER(2::numeric, more), n)::float8"
    two = "POWER(2::float8, {})"  # two steps, because one power could be too small
    return (
        f"(SELECT {rest} * {two.format('f / 2')} * {two.format('(f - f / 2)')} "
        f"FROM ({parts}) AS parts)"
    )
