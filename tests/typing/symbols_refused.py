"""Uses of symbolic functions that each checker has to refuse. Type-checked only.

Both checkers read the ignores, and to both one that hides nothing is an error.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true
# What follows from a refusal is no second one:
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from rx_ops import it, sym
from tests.typing.symbols import numbers, orders, total, words

# what Python would turn into a value at once
len(it)  # type: ignore[arg-type]
next(it)  # type: ignore[call-overload]

# it.of(T)
words.map(it.of(int) + 1)  # type: ignore[arg-type]
numbers.map(it.of(int) + "a")  # type: ignore[operator]
numbers.map(it.of(str) + 1)  # type: ignore[operator]
numbers.map(it.of(int) < "a")  # type: ignore[operator]
it.of(3)  # type: ignore[arg-type]

# sym
orders.map(sym(lambda o: o.prize * 2))  # type: ignore[attr-defined]
numbers.map(sym(lambda n: n + "a"))  # type: ignore[operator]
numbers.map(total)  # type: ignore[arg-type]
sym(3)  # type: ignore[arg-type]
