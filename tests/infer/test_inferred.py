from deniable.infer.inferred import Inferred


def test_both_errors_are_stated_apart_and_together():
    estimate = Inferred(
        "mean",
        41.2,
        (40.1, 42.3),
        (40.9, 41.5),
        (40.2, 42.2),
        0.9,
        p_value=0.02,
        notes=("Mind.",),
    )
    assert str(estimate) == (
        "mean: 41.200 ± 0.30 from noise, ± 1.0 from sampling; 40.100 to 42.300 in all, "
        "at 90 %; p at most 0.02\nMind."
    )
    assert (estimate.low, estimate.high) == (40.1, 42.3)


def test_without_sampling_it_is_left_out():
    estimate = Inferred("n", 1200.0, (1190.0, 1210.0), (1190.0, 1210.0), None, 0.95)
    assert str(estimate) == "n: 1,200 ± 10 from noise; 1,190 to 1,210 in all, at 95 %"
