from deniable.figures import examples


def test_the_clinic_is_always_the_same():
    assert examples.clinic(50).equals(examples.clinic(50))
    assert set(examples.clinic(500)["ward"].to_pylist()) == set(examples._WARDS)


def test_an_answer_has_a_bar_for_each_ward():
    (axes,) = examples.answer().axes
    assert {label.get_text() for label in axes.get_yticklabels()} == set(examples._WARDS)


def test_each_kind_of_answer_is_drawn_by_its_kind():
    assert len(examples.bins().axes[0].patches) >= 20
    assert len(examples.ladder().axes[0].get_yticks()) == 9
    assert len(examples.days().axes[0].lines[0].get_xdata()) == 28
    assert len(examples.matrix().axes[0].images) == 1


def test_a_model_s_effects_have_a_row_for_each_term():
    (axes,) = examples.effects().axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["ward=heart", "ward=surgery", "ward=eyes", "age", "sex=m"]


def test_a_survey_has_a_point_for_each_option():
    (axes,) = examples.survey().axes
    assert [label.get_text() for label in axes.get_yticklabels()][::-1] == [
        *("on foot", "by bicycle", "by bus", "by car")
    ]
