"""All functions of rows, by the name that our own trees give them.

Left out on purpose: whatever makes text longer (CONCAT, REPEAT, LPAD), for text could then grow
without bound from step to step; regular expressions, which fail on some patterns; dates made
by arithmetic, which leave the calendar; and all that reads the clock, the machine or chance.
"""

from deniable.query.relations.basic_functions import FUNCTIONS as PLAIN
from deniable.query.relations.basic_functions import Function
from deniable.query.relations.date_functions import DATES
from deniable.query.relations.number_functions import NUMBERS
from deniable.query.relations.text_functions import TEXTS

FUNCTIONS: dict[str, Function] = PLAIN | NUMBERS | TEXTS | DATES
