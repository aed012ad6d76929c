from tests.release.profile.test_profile_page import profile


def test_it_prints_everything():
    told = str(profile())
    for words in ["100 ± 5 rows, 50 ± 5 of patient", "missing   3 ± 2", "median", "Nothing."]:
        assert words in told
    assert "Cost: epsilon 1, delta 0. Left: epsilon 1, delta 0." in told
    assert repr(profile()) == told
