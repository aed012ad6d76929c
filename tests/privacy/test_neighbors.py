"""The neighbouring relation is spelt in one way."""

import pytest

from deniable.errors import InvalidParameter, MissingRelation
from deniable.privacy import neighboring


def test_the_two_relations():
    assert [neighboring(name) for name in ("add-remove", "replace")] == [
        "add-remove",
        "replace",
    ]


def test_none_is_missing():
    with pytest.raises(MissingRelation, match=r'neighbors="replace"'):
        neighboring(None)


@pytest.mark.parametrize("name", ["add_remove", "Replace", "", 1, True])
def test_others_are_refused(name):
    with pytest.raises(InvalidParameter, match="must be"):
        neighboring(name)
