"""A wrong call names the class that the user wrote, and says how to mend the call."""

import inspect

import pyarrow as pa
import pytest

import deniable as dp
from deniable import mechanisms
from deniable.mechanisms import (
    Gaussian,
    InverseSensitivity,
    Laplace,
    Loloha,
    Quantiles,
    RandomizedResponse,
    Rappor,
    RevealingResponse,
)

BY_NAME = [
    getattr(mechanisms, name)
    for name in mechanisms.__all__
    if "epsilon" in inspect.signature(getattr(mechanisms, name)).parameters
]


@pytest.mark.parametrize("mechanism", BY_NAME, ids=lambda kind: kind.__name__)
def test_the_class_is_named(mechanism):
    name = mechanism.__name__
    for values, arguments in (([1, 2, 3], {}), ([], {"epsilom": 1}), ([], {"odd": 3})):
        with pytest.raises(TypeError) as caught:
            mechanism(*values, **arguments)
        assert str(caught.value).startswith(f"{name}() ")
        assert "__init__" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Laplace(1), "takes named arguments only. Write Laplace(epsilon=...)."),
        (lambda: Laplace(epsilom=1), "no parameter `epsilom`. Did you mean `epsilon`?"),
        (lambda: Gaussian(epsilom=1), "no parameter `epsilom`. Did you mean `epsilon`?"),
        (lambda: Quantiles(0.5), "Quantiles() needs `bounds` and `neighbors`."),
        (lambda: Quantiles(0.5, 1), "only `quantiles` without a name"),
        (lambda: Quantiles(0.5, quantiles=0.5), "`quantiles` twice"),
        (lambda: InverseSensitivity([1, 2]), "needs `distance` and `neighbors`"),
        (lambda: Loloha(epsilon=1), "Loloha() needs `categories`."),
        (lambda: Quantiles(0.5, bounds=(0, 1)), 'Write neighbors="add-remove" if a record'),
        (lambda: Rappor(epsilon=1), "Rappor() has no parameter `epsilon`. It takes `bits`"),
        (lambda: RevealingResponse(1, 0, 1), "takes at most 2 arguments: `p` and `q`."),
    ],
)
def test_the_message_says_how_to_mend_the_call(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert message in str(caught.value)


WAYS = [
    getattr(kind, name)
    for kind in (Gaussian, InverseSensitivity, RandomizedResponse, RevealingResponse)
    for name, member in vars(kind).items()
    if isinstance(member, classmethod) and not name.startswith("_")
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__qualname__)
def test_other_ways_to_make_a_mechanism_are_named(way):
    for values, arguments in (([1] * 9, {}), ([], {"unheard": 1})):
        with pytest.raises(TypeError) as caught:
            way(*values, **arguments)
        assert str(caught.value).startswith(f"{way.__qualname__}() ")


FRAME = pa.table({"x": [1]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dp.protect(FRAME), "protect() needs `epsilon`. Give a price, for example"),
        (dp.protect, "protect() needs `source` and `epsilon`."),
        (lambda: dp.protect(FRAME, epsilom=1), "`epsilom`. Did you mean `epsilon`?"),
        (lambda: dp.protect(FRAME, 1), "protect() takes only `source` without a name."),
        (lambda: dp.open("x.toml", analist="ann"), "`analist`. Did you mean `analyst`?"),
        (dp.open, "open() needs `path`."),
        (lambda: dp.rehearse("x.toml", "ann"), "rehearse() takes only `policy` without a name"),
        (lambda: Gaussian.calibrated(epsilon=1), "needs `delta`. Give a delta well below 1 /"),
    ],
    ids=["price", "nothing", "epsilom", "place", "analist", "path", "rehearsal", "delta"],
)
def test_functions_say_how_to_mend_the_call(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert message in str(caught.value)


def test_the_signature_stays_visible():
    assert list(inspect.signature(Laplace).parameters) == [
        "epsilon",
        "odds",
        "scale",
        "sensitivity",
        "step",
    ]


def test_a_missing_second_loss_is_named():
    with pytest.raises(ValueError, match="`epsilon_forever` or `odds_forever`"):
        Loloha(epsilon=1, categories=5)
