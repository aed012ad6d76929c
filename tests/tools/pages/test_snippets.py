"""Outputs that pages show: how they are compared, and how they are written again."""

import pytest

from tools.pages.snippets import describe_difference, write_outputs

PAGE = """\
- one

    ```python
    print("two")
    print("three")
    ```

    ```text
    old
    ```

```python
>>> 1 + 1
2
```

```text
ls
```
"""


def test_outputs_are_written_where_they_stand_and_nothing_else(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert write_outputs(page) == 1
    assert page.read_text() == PAGE.replace("    old\n", "    two\n    three\n")
    assert write_outputs(page) == 0


@pytest.mark.parametrize(
    ("shown", "printed"), [("1,234.5 left", "-7 left"), ("1e-06", "2"), ("a  b", "a b")]
)
def test_other_digits_and_widths_are_no_difference(shown, printed):
    assert describe_difference(shown, printed) is None


@pytest.mark.parametrize(
    ("shown", "printed"), [("[1,2,3]", "[4]"), ("1 left", "left"), ("a\n...", "b\na")]
)
def test_other_words_and_another_count_of_numbers_are_one(shown, printed):
    assert describe_difference(shown, printed) is not None
