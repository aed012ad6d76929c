"""The locks of a server's libraries fit pyproject.toml, name no address, and are complete."""

import re
from importlib.metadata import PackageNotFoundError, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.locks import LOCKS, PYTHONS, lock_file, read_lock, wanted, write_lock


def locked(name):
    return read_lock(lock_file(name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_is_for_what_is_asked_for(name):
    wanted_lines, versions = locked(name)
    assert wanted_lines == wanted(name), "run   .venv/bin/python -m tools.locks"
    for line in wanted_lines:
        requirement = Requirement(line)
        version, hashes = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), line
        assert hashes


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_what_its_libraries_need(name):
    """pip refuses to install anything that a lock leaves out."""
    wanted_lines, versions = locked(name)
    waiting, seen = [Requirement(line) for line in wanted_lines], set()
    while waiting:
        requirement = waiting.pop()
        library = canonicalize_name(requirement.name)
        assert library in versions, f"{library} is not locked: run   python -m tools.locks"
        for extra in ("", *requirement.extras):
            if (library, extra) in seen:
                continue
            seen.add((library, extra))
            for line in needs(library):
                needed = Requirement(line)
                if needed.marker is None or any(
                    needed.marker.evaluate({"extra": extra, **python}) for python in places()
                ):
                    waiting.append(needed)
    assert {library for library, _ in seen} == versions.keys()


def places():
    linux = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
    for version in PYTHONS:
        for processor in ("x86_64", "aarch64"):
            yield {
                **linux,
                "platform_machine": processor,
                "python_version": version,
                "python_full_version": f"{version}.0",
            }


def needs(library):
    try:
        return requires(library) or ()
    except PackageNotFoundError:
        return ()


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_address(name):
    text = lock_file(name).read_text(encoding="utf-8")
    assert not re.search(r"://|--(?!hash=)|@|\.(org|com|net|io)\b", text.split("\n", 1)[1])
    with pytest.raises(ValueError, match="no more"):
        read_lock(text + "--find-links /tmp\n")


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_is_read_as_it_was_written(name):
    wanted_lines, versions = locked(name)
    assert write_lock(wanted_lines, versions) == lock_file(name).read_text(encoding="utf-8")


def test_what_is_compiled_has_a_file_for_each_python_and_processor():
    versions = locked("server")[1]
    for library in ("numpy", "pyarrow", "scipy", "pydantic-core", "psycopg-binary"):
        assert len(versions[library][1]) >= 2 * len(PYTHONS), library
