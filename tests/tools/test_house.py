"""The eight figures of the house: each is measured, and each limit can be broken."""

import ast

import pytest

from tools.check import STEPS
from tools.house import (
    LONGEST_FUNCTION,
    MOST_METHODS,
    MOST_MODULES,
    Figure,
    code_lines,
    import_cycles,
    kernel_lines,
    longest_function,
    main,
    modules_per_folder,
    most_inherited_methods,
    most_methods,
    repeated_classes,
    repeated_modules,
)


def parsed(**files):
    """Sources by path; `__` in a keyword stands for a slash."""
    return {name.replace("__", "/") + ".py": ast.parse(text) for name, text in files.items()}


def test_the_limits_of_the_package_are_a_step_of_make_test(capsys, monkeypatch):
    """The step measures the whole package; here a broken limit of a small one ends in 1."""
    assert STEPS["house"] == ["python", "tools/house.py"]
    monkeypatch.setattr("tools.house.kernel_lines", lambda: Figure("lines", 1, 1))
    for lines, status in {LONGEST_FUNCTION: 0, LONGEST_FUNCTION + 1: 1}.items():
        sources = parsed(a="def f():\n" + "    pass\n" * (lines - 1))
        monkeypatch.setattr("tools.house.read", lambda texts=sources: texts)
        assert main() == status
        assert ("FAILED" in capsys.readouterr().out) == bool(status)


def test_lines_of_code_are_counted_without_comments_and_docstrings(tmp_path):
    text = '"""Doc."""\n\n# why\nclass A:\n    """Doc\n    of A."""\n\n'
    text += "    x = [\n        1,\n    ]\n"
    assert code_lines(text) == 4
    (tmp_path / "kernel").mkdir()
    for i in range(400):
        (tmp_path / "kernel" / f"rules_{i}.py").write_text(text)
    assert kernel_lines(tmp_path).value == 1600 > kernel_lines(tmp_path).limit
    assert "FAILED" in str(kernel_lines(tmp_path))


def test_a_full_folder_is_seen():
    sources = {f"exact/m{i}.py": ast.parse("") for i in range(MOST_MODULES + 1)}
    assert modules_per_folder(sources).value == MOST_MODULES + 1
    assert "exact: 21" in str(modules_per_folder(sources))


def test_a_module_name_twice_in_a_room_is_seen():
    assert repeated_modules(parsed(query__plan__keys="", query__margins__keys="")).value == 1
    assert repeated_modules(parsed(query__plan__keys="", ledger__keys="")).value == 0
    assert (
        repeated_modules(parsed(engines__spark__dates="", engines__duckdb__dates="")).value == 0
    )


def test_a_class_name_twice_is_seen():
    assert repeated_classes(parsed(a__b="class C: ...", d__e="class C: ...")).value == 1
    assert repeated_classes(parsed(a__b="class _C: ...", d__e="class _C: ...")).value == 0


@pytest.mark.parametrize(
    "back",
    [
        "from deniable.a.x import f",
        "from deniable.a import x",
        "import deniable.a.x",
        "def g():\n    from deniable.a.x import f",
        "if TYPE_CHECKING:\n    from deniable.a.x import f",
        "def g():\n    return import_module('deniable.a.x').f",
        "HOME = 'deniable.a.x'\ndef g():\n    return importlib.import_module(HOME)",
        "f = __import__('deniable.a.x').f",
    ],
)
def test_a_cycle_is_seen_wherever_the_import_stands(back):
    package = {"a/__init__.py": ast.parse("")}
    there = "from deniable.a.y import g"
    assert import_cycles(package | parsed(a__x=there, a__y=back)).value == 1
    assert import_cycles(package | parsed(a__x=there, a__y="")).value == 0


def test_a_package_that_loads_its_modules_by_name_imports_them():
    package = {"a/__init__.py": ast.parse("import_module(f'{__name__}.{FILES[0]}', 'x')")}
    assert import_cycles(package | parsed(a__x="import deniable.a")).value == 1
    assert (
        import_cycles(
            {"a/__init__.py": ast.parse("'x'")} | parsed(a__x="import deniable.a")
        ).value
        == 0
    )


def test_two_cycles_are_two():
    finding = import_cycles(
        parsed(
            a="from deniable.b import f",
            b="from deniable.a import g",
            c="from deniable.d import f",
            d="from deniable.c import g",
        )
    )
    assert finding.value == 2
    assert "deniable.a -> deniable.b -> deniable.a" in str(finding) or (
        "deniable.b -> deniable.a -> deniable.b" in str(finding)
    )


def test_a_long_function_is_seen():
    def lines(count):
        return parsed(a="def f():\n" + "    x = 1\n" * (count - 1))

    assert longest_function(lines(LONGEST_FUNCTION)).value == LONGEST_FUNCTION
    assert "a.py:1 f" in str(longest_function(lines(LONGEST_FUNCTION + 1)))


def test_a_large_class_is_seen():
    def methods(first, last):
        return "".join(f"    def m{i}(self): ...\n" for i in range(first, last))

    own = parsed(a="class A:\n" + methods(0, MOST_METHODS + 1))
    assert most_methods(own).value == MOST_METHODS + 1
    assert f"a.py:1 A: {MOST_METHODS + 1}" in str(most_methods(own))
    tower = (
        "class A(ABC):\n" + methods(0, 20) + "class B(house.A, Generic[T]):\n" + methods(10, 30)
    )
    assert most_methods(parsed(a=tower)).value == 20
    assert most_inherited_methods(parsed(a=tower)).value == 30
