import os

import pytest

from tools.notebook_shell import BACKGROUND, MAGIC, Shell


def test_a_command_that_fails_is_not_hidden():
    with Shell.opened() as shell, pytest.raises(RuntimeError, match="no such thing"):
        shell.run(f"{MAGIC}echo no such thing >&2\nexit 3")


def test_a_server_has_a_port_of_its_own_and_ends_with_the_shell():
    serve = "bash -c 'echo http://127.0.0.1:4321/x $0 $1; exec tail -f /dev/null' --port 8000"
    with Shell.opened() as shell:
        assert shell.run(f"{BACKGROUND}{serve}") == "http://127.0.0.1:8000/x --port 0\n"
        assert shell.localize("ask http://127.0.0.1:8000/y") == "ask http://127.0.0.1:4321/y"
        (process,) = shell._running
        assert process.poll() is None
    assert process.returncode != 0


def test_what_a_command_leaves_behind_ends_with_it(tmp_path):
    told, go = tmp_path / "told", tmp_path / "go"
    os.mkfifo(told)
    os.mkfifo(go)
    reader, writer = os.open(told, os.O_RDONLY | os.O_NONBLOCK), os.open(go, os.O_RDWR)
    os.set_blocking(reader, True)
    with Shell.opened() as shell:
        shell.run(
            f"{MAGIC}exec 3> {told}\n(read line < {go}; echo left >&3) > {os.devnull} 2>&1 &"
        )
    os.write(writer, b"go\n")
    assert os.read(reader, 9) == b""
    os.close(reader)
    os.close(writer)
