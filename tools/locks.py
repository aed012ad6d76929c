"""Locks the libraries of a server: exact versions, and the hashes of their files.

    .venv/bin/python -m tools.locks

writes `deploy/server.lock`, what a server needs, and `deploy/build.lock`, what builds its
wheel. pip installs from them with --require-hashes: a file that anybody changed since is
refused. A lock names no address, so it says nothing of where files come from. It is for Linux
on two kinds of processor, for each Python below, and for wheels only. A test says when a lock
no longer fits pyproject.toml.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("server", "build")
EXTRAS = ("postgresql", "server")  # of a server
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PROCESSORS = ("x86_64", "aarch64")
_LIBRARIES = ("2_34", "2_31", "2_28", "2_27", "2_26", "2_24", "2_17", "2014")  # of C; any older
_ENTRY = re.compile(r"([a-z0-9-]+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n")
_HEAD = "# Made by `python -m tools.locks`. Install it with   pip install --require-hashes -r\n"
_FROM = "# for "


def lock_file(name: str) -> Path:
    """Where a lock is."""
    return ROOT / "deploy" / f"{name}.lock"


def wanted(name: str) -> list[str]:
    """What pyproject.toml asks for: the libraries of a server, or what builds its wheel."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if name == "build":
        return sorted(told["build-system"]["requires"])
    project = told["project"]
    extras = (project["optional-dependencies"][extra] for extra in EXTRAS)
    return sorted({*project["dependencies"], *(line for extra in extras for line in extra)})


def read_lock(text: str) -> tuple[list[str], dict[str, tuple[str, set[str]]]]:
    """What a lock was made for, and the version and hashes of each library.

    >>> line = "b==1 " + chr(92) + "\\n    --hash=sha256:" + "0" * 64 + "\\n"
    >>> wanted, locked = read_lock(_HEAD + "# for b>=1\\n" + line)
    >>> wanted, locked["b"][0]
    (['b>=1'], '1')
    >>> read_lock("--index-url x\\n")
    Traceback (most recent call last):
    ValueError: A lock has libraries with versions and hashes, and no more.
    """
    comments = [line for line in text.splitlines(keepends=True) if line.startswith("#")]
    entries = "".join(line for line in text.splitlines(keepends=True) if line[0] != "#")
    if _ENTRY.sub("", entries):
        raise ValueError("A lock has libraries with versions and hashes, and no more.")
    requirements = [line[len(_FROM) :].strip() for line in comments if line.startswith(_FROM)]
    locked = {
        name: (version, {*re.findall("[0-9a-f]{64}", hashes)})
        for name, version, hashes in _ENTRY.findall(entries)
    }
    return requirements, locked


def write_lock(requirements: list[str], locked: dict[str, tuple[str, set[str]]]) -> str:
    """A lock as pip reads it."""
    entries = (
        "".join(
            [f"{name}=={version}", *(f" \\\n    --hash=sha256:{digest}" for digest in hashes)]
        )
        for name, version, hashes in (
            (name, version, sorted(hashes)) for name, (version, hashes) in locked.items()
        )
    )
    return "".join(
        [_HEAD, *(f"{_FROM}{line}\n" for line in requirements), *(f"{e}\n" for e in entries)]
    )


def resolve(requirements: list[str]) -> dict[str, tuple[str, set[str]]]:
    """One version of each library for all targets, with the hash of each target's file."""
    chosen: dict[str, tuple[str, set[str]]] = {}
    for python in PYTHONS:
        for processor in PROCESSORS:
            fixed = [f"{name}=={version}" for name, (version, _) in chosen.items()]
            for name, version, digest in _choose(requirements, fixed, python, processor):
                known, hashes = chosen.setdefault(name, (version, set()))
                if known != version:
                    raise AssertionError(f"{name} has two versions: {known} and {version}.")
                hashes.add(digest)
    return dict(sorted(chosen.items()))


def _choose(
    requirements: list[str], fixed: list[str], python: str, processor: str
) -> list[tuple[str, str, str]]:
    """What pip would install there: name, version and SHA-256. It installs nothing."""
    with tempfile.TemporaryDirectory() as folder:
        report, limits = Path(folder, "report.json"), Path(folder, "limits.txt")
        limits.write_text("\n".join(fixed), encoding="utf-8")
        platforms = (f"manylinux{_tag(library)}_{processor}" for library in _LIBRARIES)
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
        command += ["--quiet", "--only-binary=:all:", f"--report={report}"]
        command += [
            f"--constraint={limits}",
            f"--target={folder}",
            f"--python-version={python}",
        ]
        command += [
            "--implementation=cp",
            *(f"--platform={platform}" for platform in platforms),
            *requirements,
        ]
        # Only what everybody can get: no folders and lists of files that this machine adds.
        apart = {"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": ""}
        subprocess.run(command, check=True, env=os.environ | apart)
        chosen = json.loads(report.read_text(encoding="utf-8"))["install"]
    return [
        (
            re.sub("[-_.]+", "-", library["metadata"]["name"]).lower(),
            library["metadata"]["version"],
            library["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for library in chosen
    ]


def _tag(library: str) -> str:
    return library if library == "2014" else f"_{library}"


def main() -> None:
    """Writes both locks."""
    for name in LOCKS:
        requirements = wanted(name)
        locked = resolve(requirements)
        lock_file(name).write_text(write_lock(requirements, locked), encoding="utf-8")
        print(f"{lock_file(name).relative_to(ROOT)}: {len(locked)} libraries")


if __name__ == "__main__":
    main()
