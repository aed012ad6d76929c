"""Text that is longer than this is NULL, on every engine; and a list ends here.

A text may have a gigabyte, but functions of text need several times as much memory and fail:
one row would make a question fail. Cut to a prefix, two persons could become one unit; a row
whose unit is NULL belongs to nobody. So such a text is missing as a whole.
"""

from deniable.policy.list_types import LONGEST_LIST as LONGEST_LIST

LONGEST_TEXT = 65_536  # bytes in UTF-8
