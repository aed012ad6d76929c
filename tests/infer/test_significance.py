from deniable.infer.significance import Significance


def test_a_test_says_what_it_tested():
    tested = Significance("both are the same", 2.345678, 0.0312, notes=("Mind the range.",))
    assert str(tested) == "If both are the same: p = 0.031 (statistic 2.346)\nMind the range."
    assert tested.rejects()
    assert not tested.rejects(0.03)
    assert Significance("it is so", 1.0, 0.05).rejects()
