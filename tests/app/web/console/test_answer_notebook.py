import json

import pytest

from deniable.app.web.console.answer_notebook import write_notebook


@pytest.mark.parametrize(
    "question", ["SELECT 1", "```\n# not a heading\n```", "`" * 9, '"""\nimport os\n"""', ""]
)
def test_text_of_others_is_neither_run_nor_a_heading(question):
    release = '{"rows": [{"a": "' + "'''\\nimport os\\n" + '"}]}'
    notebook = json.loads(write_notebook(release, question=question, key="ab"))
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            compile(source, "cell", "exec")
            assert not [line for line in source.splitlines() if line == "import os"]
        elif question:
            fence = source.split("\n")[2].removesuffix("sql")
            assert set(fence) == {"`"}
            assert fence not in question
            assert f"\n{question}\n{fence}\n" in source
