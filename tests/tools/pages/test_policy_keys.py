from tools.pages import policy_keys


def test_every_key_has_a_meaning_and_no_meaning_lacks_its_key():
    assert set(policy_keys.keys()) == set(policy_keys.MEANINGS)


def test_the_page_shows_every_key_and_its_default():
    (page,) = policy_keys.write_pages().values()
    assert '| `neighbors` | `"add-remove"` or `"replace"` | `add-remove` |' in page
    assert "| `source` | text | required |" in page
    assert "| `filters` | " in page
