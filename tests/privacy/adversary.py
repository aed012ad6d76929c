"""A brute-force adversary: the best adaptive choice of randomized responses, exactly.

The adversary picks each loss after seeing the answers so far, from a finite list, while a rule
grants it; after at most `depth` answers she names a set of transcripts. Her best excess,
max over strategies and sets of P(set) - e**epsilon Q(set), is found by dynamic programming:
going down a transcript both probabilities are known, so at a leaf it is max(0, P - x Q), and
at a node the best choice is the best sum over its two answers. All numbers are rationals: a
menu of odds makes randomized responses rational, and x = e**epsilon is taken as rational odds.
"""

from fractions import Fraction


def best_excess(menu, granted, odds, depth):
    """The greatest delta at ln(odds) that any strategy reaches.

    `granted(history)` tells whether the last of a tuple of odds may be spent, given those
    before it; it sees nothing else, so neither do refusals.
    """

    def best(history, p, q, left):
        excess = max(Fraction(0), p - odds * q)  # stop here
        if not left:
            return excess
        for choice in menu:
            if not granted((*history, choice)):
                continue
            truth, lie = choice / (1 + choice), 1 / (1 + choice)
            reached = best((*history, choice), p * truth, q * lie, left - 1) + best(
                (*history, choice), p * lie, q * truth, left - 1
            )
            excess = max(excess, reached)
        return excess

    return best((), Fraction(1), Fraction(1), depth)
