"""Margins."""
from deniable.release.answer.answer_table import Answer
def add_margins(divided, inner, made):
    return Answer(made, {}), ()
