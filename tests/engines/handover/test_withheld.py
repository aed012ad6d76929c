import copy
import json
import logging
import pickle

import numpy as np
import pytest

from deniable.engines.handover.withheld import Withheld

CANARY = 918273645


@pytest.fixture
def secret():
    return Withheld([CANARY])


@pytest.mark.parametrize(
    "show", [repr, str, "{}".format, "{!r:>20}".format, "%s".__mod__, ascii]
)
def test_it_prints_nothing(secret, show):
    assert show(secret).strip() == "<withheld>"


def test_it_leaves_no_trace_in_a_log(secret, caplog):
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("x").warning("got %s and %r", secret, [secret])
    assert str(CANARY) not in caplog.text
    assert caplog.text.count("<withheld>") == 2


@pytest.mark.parametrize(
    "exit_by",
    [
        json.dumps,
        pickle.dumps,
        copy.copy,
        copy.deepcopy,
        list,
        len,
        bool,
        int,
        float,
        np.asarray,
        hash,
        lambda withheld: withheld[0],
        lambda withheld: CANARY in withheld,
        lambda withheld: withheld == CANARY,
        lambda withheld: withheld < 0,
        lambda withheld: [*withheld],
        vars,
    ],
)
def test_it_refuses_every_other_exit(secret, exit_by):
    with pytest.raises(TypeError) as caught:
        exit_by(secret)
    assert str(CANARY) not in str(caught.value)


def test_the_one_exit(secret):
    assert secret.reveal_to(sum) == CANARY
