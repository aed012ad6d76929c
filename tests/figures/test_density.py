from deniable.figures.density import density, example_density
from deniable.mechanisms import Density


def test_the_curve_and_its_band_are_drawn():
    mechanism = Density(epsilon=1, bounds=(0, 9), neighbors="replace", terms=3)
    released = mechanism.release([3, 4, 4, 5])
    (axes,) = density(released, margin=0.02, x="years").axes
    assert axes.lines[0].get_ydata().tolist() == released.heights.tolist()
    assert len(axes.collections) == 1
    assert axes.get_xlabel() == "years"
    assert not density(released).axes[0].collections


def test_made_up_data_show_the_data_too():
    (axes,) = example_density(rows=500).axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[0] == "the data"
    assert len(labels) == 3
