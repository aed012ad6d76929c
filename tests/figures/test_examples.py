from deniable.figures import examples


def test_the_clinic_is_always_the_same():
    assert examples.clinic(50).equals(examples.clinic(50))
    assert set(examples.clinic(500)["ward"].to_pylist()) == set(examples._WARDS)


def test_an_answer_has_a_bar_for_each_ward():
    (axes,) = examples.answer().axes
    assert {label.get_text() for label in axes.get_yticklabels()} == set(examples._WARDS)
