"""The wheel, installed as the container installs it, serves its pages by itself."""

import json
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from deniable.app.server.accounts.role_matrix import reach
from tests.app.server.questions.asking import people_of, write_hospital
from tools.locks import EXTRAS

ROOT = Path(__file__).parents[3]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text().replace("\\\n", "")
STEPS = [line.split(maxsplit=1) for line in DOCKERFILE.splitlines() if line[:1].isupper()]


def steps(word):
    return [rest for step, rest in STEPS if step == word]


def test_the_container_is_built_from_what_is_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert steps("COPY")[0] == ". /source"
    left = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text().splitlines()
    kept = [line[1:] for line in left if line.startswith("!")]
    locks = re.findall(r"-r /source/(\S+)", " ".join(steps("RUN")))
    ours = {"src", "pyproject.toml", project["readme"], *project["license-files"], *locks}
    assert {*kept} == ours
    assert all((ROOT / name).exists() for name in kept)
    assert {*EXTRAS} <= project["optional-dependencies"].keys()
    (image,) = {step.split()[0] for step in steps("FROM")}
    (least,) = re.findall(r"[0-9.]+", project["requires-python"])
    version = re.match(r"python:([0-9.]+)-slim", image).group(1)
    assert tuple(map(int, version.split("."))) >= tuple(map(int, least.split(".")))


def test_the_container_takes_no_library_without_its_hash():
    check_hashes(steps("RUN"))


@pytest.mark.parametrize("guard", ["--require-hashes", "--no-deps", "--no-build-isolation"])
def test_a_container_without_a_guard_of_its_libraries_is_noticed(guard):
    with pytest.raises(AssertionError):
        check_hashes([step.replace(guard, "") for step in steps("RUN")])


def check_hashes(written):
    """pip takes libraries from locks, or takes none."""
    commands = [part for step in written for part in step.split("&&") if "/pip " in part]
    assert len(commands) == 4
    for command in commands:
        words = {*command.split()}
        hashed = {"--require-hashes", "--only-binary=:all:"} <= words
        assert hashed or {"--no-deps", "--no-index"} <= words or "wheel" in words, command
        if "wheel" in words:
            assert {"--no-deps", "--no-build-isolation"} <= words
        assert not {"--index-url", "--extra-index-url", "--trusted-host"} & words
    assert not [step for step in written if "pip " in step.replace("/bin/pip ", "")]


def test_the_container_runs_as_nobody_and_is_asked_for_what_it_serves():
    assert "useradd --system --uid 10001 --home-dir /data deniable" in steps("RUN")
    assert steps("USER") == ["deniable"]
    (check,) = (json.loads(step.removeprefix("CMD ")) for step in steps("HEALTHCHECK"))
    compile(check[2], "HEALTHCHECK", "exec")
    path = re.search(r"http://127\.0\.0\.1:8000(/\w+)", check[2]).group(1)
    assert reach("GET", path, None) == "anyone"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert json.loads(steps("CMD")[0])[0] in project["scripts"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The programs of an environment whose only Deniable is the wheel. What it depends on is
    that of the tests: no network is needed."""
    folder = tmp_path_factory.mktemp("wheel")
    source, target = folder / "source", folder / "opt"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    places = {"/opt": target, "/source": source, "/wheels": folder / "wheels"}
    for step in steps("RUN")[:2]:
        for command in step.split("&&"):
            if "--require-hashes" in command:
                continue  # test_locks.py reads what this would install
            here = command.replace("python ", f"{sys.executable} ")
            for there, place in places.items():
                here = here.replace(f" {there}", f" {place}")
            subprocess.run(["bash", "-c", here], check=True, capture_output=True, cwd=folder)
            for packages in target.glob("*/lib/python3*/site-packages"):
                (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    return target / "deniable" / "bin"


def test_the_wheel_has_every_file_of_the_package(installed):
    (packages,) = installed.parent.glob("lib/python3*/site-packages")
    ours = [path for path in (ROOT / "src").rglob("*") if path.is_file()]
    ours = [path for path in ours if "__pycache__" not in path.parts]
    assert {path.suffix for path in ours} >= {".py", ".js", ".css"}
    for path in ours:
        there = packages / path.relative_to(ROOT / "src")
        assert there.read_bytes() == path.read_bytes(), there


def test_the_wheel_serves(installed, tmp_path):
    file = write_hospital(tmp_path)
    token = people_of(tmp_path).new_token("olga", role="owner")
    where = [str(file), "--port", "0", "--database", str(tmp_path / "server.sqlite")]
    command = [installed / "deniable", "serve", *where, "--padding", "off", "--openapi"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        try:
            address = process.stdout.readline().split()[-1].partition("/v1/")[0]
            headers = {"Authorization": f"Bearer {token}"}

            def get(path):
                with urlopen(Request(address + path, headers=headers)) as answer:
                    return answer.headers["content-type"], answer.read().decode()

            assert json.loads(get("/ready")[1]) == {"ready": True}
            kind, page = get("/problems/budget-exhausted")
            assert kind.startswith("text/html")
            assert "<h1>BudgetExhausted</h1>" in page
            assert "/v1/{policy}/releases" in json.loads(get("/openapi.json")[1])["paths"]
            tables = json.loads(get("/v1/hospital/tables")[1])["policy"]["tables"]
            assert [table["name"] for table in tables] == ["visits", "staff"]
            with pytest.raises(HTTPError, match="404"):
                get("/docs")
        finally:
            process.send_signal(signal.SIGTERM)
