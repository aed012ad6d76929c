"""Sums by Fourier transform: within their stated error of exact integer convolutions."""

import numpy as np
import pytest

from deniable.privacy.compose.convolution import GridTerm, convolve


def exact(terms):
    """Convolution in whole numbers: masses are multiples of 2**-20."""
    first, masses = 0, [1]
    for term in terms:
        whole = [round(m * 2**20) for m in term.mass]
        for _ in range(term.count):
            following = [0] * (len(masses) + len(whole) - 1)
            for i, a in enumerate(masses):
                for j, b in enumerate(whole):
                    following[i + j] += a * b
            masses, first = following, first + term.first
    uses = sum(term.count for term in terms)
    return first, [mass / 2 ** (20 * uses) for mass in masses]


def random_term(generator, size, count):
    mass = np.round(generator.dirichlet(np.ones(size)) * 2**20) / 2**20
    mass[0] += 1 - mass.sum()
    return GridTerm(int(generator.integers(-5, 5)), np.abs(mass), count)


@pytest.mark.parametrize("seed", range(6))
def test_masses_are_within_the_error(seed):
    generator = np.random.default_rng(seed)
    terms = [
        random_term(generator, int(generator.integers(2, 9)), int(generator.integers(1, 5)))
        for _ in range(int(generator.integers(1, 12)))
    ]
    first, masses = exact(terms)
    size = len(masses) + seed  # odd and even lengths
    law = convolve(terms, first, size)
    assert np.abs(law.mass[: len(masses)] - masses).max() <= law.error
    assert law.error < 1e-11


def test_many_short_terms_are_joined_in_pairs():
    generator = np.random.default_rng(9)
    terms = [random_term(generator, 3, 1) for _ in range(40)]
    first, masses = exact(terms)
    law = convolve(terms, first, 512)
    assert np.abs(law.mass[: len(masses)] - masses).max() <= law.error < 1e-10


def test_terms_with_few_masses_far_apart_are_multiplied_out():
    generator = np.random.default_rng(8)
    terms = []
    for _ in range(12):
        term = random_term(generator, 4, 1)
        mass = np.zeros(31)
        mass[[0, 1, 29, 30]] = term.mass
        terms.append(GridTerm(term.first, mass))
    first, masses = exact(terms)
    law = convolve(terms, first, 512)
    assert np.abs(law.mass[: len(masses)] - masses).max() <= law.error < 1e-12


def test_what_does_not_fit_wraps():
    coin = GridTerm(0, np.array([0.5, 0.5]), 4)
    law = convolve([coin], 0, 4)
    assert law.mass == pytest.approx(np.array([1 + 1, 4, 6, 4]) / 16)
    shifted = convolve([coin], 2, 4)  # the same losses, read from 2 on
    assert shifted.mass == pytest.approx(np.array([6, 4, 1 + 1, 4]) / 16)
