from deniable.app.server.console.oversight.policy_drafts import (
    compare_texts,
    explain_budgets,
)
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget


def test_lines_are_numbered_as_in_both_texts():
    old = "\n".join(map(str, range(30)))
    new = old.replace("\n5\n", "\nfive\nsix\n").replace("\n25", "")
    lines = compare_texts(old, new)
    assert [(line.old, line.text) for line in lines if line.kind == "-"] == [
        (6, "5"),
        (26, "25"),
    ]
    assert [(line.new, line.text) for line in lines if line.kind == "+"] == [
        (6, "five"),
        (7, "six"),
    ]
    assert any(line.kind == "@" for line in lines)
    assert compare_texts(old, old) == ()
    assert compare_texts("a\nb", "a\r\nb") == ()


def test_each_unit_is_explained_with_its_own_budget():
    policy = Policy(
        [
            Table("visits", unit="patient"),
            Table("shifts", unit="nurse"),
            Table("wards", public=True),
        ],
        epsilon=1,
        units={"nurse": Budget(3)},
    )
    patient, nurse = explain_budgets(policy)
    assert (patient.unit, patient.right) == ("patient", 74)
    assert (nurse.unit, nurse.right) == ("nurse", 96)
    assert patient.whole == "all answers together"
