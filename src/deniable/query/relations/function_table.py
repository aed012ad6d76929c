"""All functions of rows, by their name in our own trees.

Left out on purpose: functions that make text longer without end (REPEAT, LPAD), which could
fill the memory; regular expressions, which fail on some patterns; and functions that read the
clock, the machine or random numbers.
"""

from deniable.query.relations.basic_functions import FUNCTIONS as PLAIN
from deniable.query.relations.basic_functions import Function
from deniable.query.relations.date_functions import DATES
from deniable.query.relations.number_functions import NUMBERS
from deniable.query.relations.text_functions import TEXTS

FUNCTIONS: dict[str, Function] = PLAIN | NUMBERS | TEXTS | DATES
