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
