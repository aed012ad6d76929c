import ast
import subprocess
import sys

from tools.pages import peers
from tools.pages.comparison import read


def test_each_tab_is_a_program_that_begins_with_the_page_s_table():
    assert len(peers.programs()) == 4
    for program in peers.programs().values():
        tree = ast.parse(program)
        assert "visits" in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for part in '"patient": [i % 900 for i in range(2400)]', '"ward": ["north", "south"':
        assert part in peers.PAGE.read_text()
        assert part in peers.programs()["opendp"]


def test_the_page_names_the_versions_of_the_comparison():
    text = peers.PAGE.read_text(encoding="utf-8")
    tools = {tool["name"]: tool["version"] for tool in read()["tools"].values()}
    for name in ("OpenDP", "Tumult Analytics", "SmartNoise SQL", "diffprivlib"):
        assert f'=== "{name} {tools[name]}"' in text


def test_the_command_prints_a_program_and_refuses_other_names(capsys):
    assert peers.main(["opendp"]) == 0
    assert capsys.readouterr().out == f"{peers.programs()['opendp']}\n"
    assert peers.main(["pandas"]) == 2
    assert "Name one of" in capsys.readouterr().err


def test_it_needs_nothing_but_the_standard_library():
    command = [sys.executable, "-I", peers.__file__, "opendp"]
    assert subprocess.run(command, capture_output=True, check=True).stdout
