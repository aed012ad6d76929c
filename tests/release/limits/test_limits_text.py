from tests.release.limits.test_measured_limits import limits


def test_the_text_shows_both_tables_the_recommendation_and_the_price():
    text = str(limits())
    assert text.startswith("visits: what limits on one patient leave out, by ward (3 groups)")
    assert "rows in each  left out" in text
    assert "Of each patient, the number of groups: 50 % have at most 1," in text
    assert "the 99 % quantile is 3 or more" in text
    assert "Today's limit: 1 group with 1 row in each, which leaves out" in text
    assert "\n  max_groups_per_unit = 3\n  max_rows_per_unit_per_group = 3\n" in text
    assert "caps of 3 groups and 3 rows in each" in text
    assert "Cost: epsilon 1, delta 0. Left: epsilon 1, delta 0." in text


def test_names_from_a_table_cannot_write_to_the_terminal():
    assert "\x1b" not in str(limits(table="x\x1b[2J", unit="\x1b[0m"))
