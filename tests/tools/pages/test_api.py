"""Every public name is on a page of the API, and says something about itself."""

import inspect
from importlib import import_module

import deniable as dp
from tools.pages import api


def test_every_public_name_is_documented():
    pages = api.write_pages()
    text = "\n".join(pages.values())
    missing = [name for name, _ in api.public_names() if f"\n## {name}\n" not in text]
    assert missing == []
    modules = {name for name in dp.__all__ if inspect.ismodule(getattr(dp, name))}
    listed = {name.partition(".")[0] for name, _ in api.public_names()}
    errors = {
        name
        for name in dp.__all__
        if isinstance(kind := getattr(dp, name), type)
        and issubclass(kind, dp.DeniableError | Warning)
    }
    assert listed | errors == set(dp.__all__)
    assert modules <= listed


def test_every_name_and_method_says_what_it_does():
    silent = []
    for name, value in api.public_names():
        if not inspect.getdoc(value):
            silent.append(name)
        if isinstance(value, type):
            silent += [
                f"{name}.{own}"
                for own, _ in api.members(value)
                if not api.member_doc(value, own)
            ]
    assert silent == []


def test_what_is_handed_out_exists():
    for places in api._HANDED_OUT.values():
        for place in places:
            module, _, name = place.partition(":")
            assert inspect.isclass(getattr(import_module(module), name))


def test_no_page_shows_an_address_in_memory():
    assert " at 0x" not in "".join(api.write_pages().values())
