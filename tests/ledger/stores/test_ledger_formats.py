"""What the head of a ledger says about its format."""

import json

from deniable.ledger.stores.ledger_formats import FORMAT, head_state, later_format


def test_a_head_names_its_format_and_no_sums():
    assert [json.loads(head_state(version)) for version in (2, FORMAT)] == [
        {"format": 2},
        {"format": 3},
    ]


def test_a_later_format_is_named():
    assert "has format 9" in str(later_format(9))
    assert f"up to {FORMAT}" in str(later_format(9))
