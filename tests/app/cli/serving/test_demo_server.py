import os
import re
import signal
import subprocess
import sys

import httpx2 as httpx
import pytest

from deniable.app.cli import main
from deniable.app.cli.serving.demo_server import PEOPLE, make_demo


def test_the_demonstration_leaves_nothing_behind():
    with make_demo(visits=2000) as demo:
        folder = demo.settings.database.parent
        assert (folder / "hospital" / "hospital.duckdb").exists()
        assert (folder / "surveys" / "example.collected").is_dir()
        assert set(demo.passwords) == set(PEOPLE)
        assert len({*demo.passwords.values()}) == 3
        assert min(map(len, demo.passwords.values())) >= 16
        mode = folder.stat().st_mode & 0o077
    assert mode == 0
    assert not folder.exists()


def test_the_demonstration_can_invite_people():
    with make_demo(visits=2000, port=8000) as demo:
        assert demo.settings.origin == "http://127.0.0.1:8000"


@pytest.mark.parametrize("words", [["--host", "0.0.0.0"], ["policy.toml"]])
def test_it_is_for_this_machine_and_its_own_data_only(capsys, words):
    with pytest.raises(SystemExit) as end:
        main(["serve", "--demo", *words])
    assert end.value.code == 2
    assert "on this machine only" in capsys.readouterr().err


def test_the_command_prints_passwords_that_open_the_console(tmp_path):
    start = "from deniable.app.cli import main; main()"
    command = [sys.executable, "-c", start, "serve", "--demo", "--port", "0"]
    place = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=place)
    lines = [process.stdout.readline() for _ in range(6)]
    url = lines[0].split()[-1]
    assert len(list(tmp_path.glob("deniable-demo-*"))) == 1
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", url)
    same = {"Sec-Fetch-Site": "same-origin"}
    for line in lines[1:4]:
        name, role, password = line.split()
        fields = {"name": name, "password": password, "after": "/console"}
        begun = httpx.post(f"{url}/console/login", data=fields, headers=same)
        assert begun.status_code == 303
        cookie = {"Cookie": begun.headers["set-cookie"].split(";")[0]}
        home = httpx.get(f"{url}/console", headers=cookie)
        assert f"{name} <small>{role}</small>" in home.text
        if role == "owner":
            results = httpx.get(f"{url}/console/surveys/example/results", headers=cookie)
            assert "forbidden substance" in results.text
            assert "No batch" not in results.text
    assert httpx.get(lines[4].split()[-1]).status_code == 200
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    process.stdout.close()
    assert list(tmp_path.glob("deniable-demo-*")) == []
