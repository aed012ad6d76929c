import pytest

from tools.code_changes import Gone, change


@pytest.mark.parametrize(
    ("pair", "changed"),
    [
        ("f(x,y) => x", "    return x + g(x)"),  # the layout does not matter
        ("f($*all) => g($*all)", "    return g(x, y) + g(x)"),
        ("$name($first, $*rest) + $other => $first", "    return (x)"),
        ("return $all => y = 1\nreturn y", "    y = 1\n    return y"),
    ],
)
def test_a_change_is_made_in_the_syntax_tree(pair, changed):
    source = "def h(x, y):\n    return f(\n        x, y  # both\n    ) + g(x)\n"
    assert change(source, "h", pair) == f"def h(x, y):\n{changed}\n"


@pytest.mark.parametrize(
    ("function", "pair"),
    [
        ("A.f", "x => y"),  # twice there
        ("A.f", "z => y"),  # nowhere there
        ("A.g", "x => y"),  # no such function
        ("A.f", "$same * $same => 1"),  # one name, one meaning
        ("A.f", "$a.y * $b => ($a.y) * $b"),  # nothing is changed
    ],
)
def test_a_change_that_is_not_there_exactly_once_is_gone(function, pair):
    source = "class A:\n    def f(self, x):\n        return x + self.y * x\n"
    with pytest.raises(Gone):
        change(source, function, pair)


def test_what_is_put_there_is_python():
    with pytest.raises(SyntaxError):
        change("def f(x):\n    return x\n", "f", "return $x => return return")
