"""Sources and operators that random pipelines of the normal run leave out: with them the library differs from RxJava still.

Who rewrites an operator takes it off the list; ``python -m tests.invisible.push NAME`` says whether that holds. The nightly run
draws everything. At the end this list is empty, and goes.
"""

from __future__ import annotations

from typing import Final

NOT_YET: Final = frozenset(
    (
        # one subscription for many
        *("twice", "behavior"),
    )
)

#: And these, where a subscriber does not request everything.
NOT_YET_BY_DEMAND: Final = frozenset(
    (
        # the error of its overflow waits behind its items
        "bp_buffer",
    )
)
