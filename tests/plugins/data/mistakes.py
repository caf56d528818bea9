"""What each checker has to refuse: the last comment names the error of mypy, `|`, that of pyright. Type-checked only."""

from __future__ import annotations

from rx_ops import Flowable, Single

numbers = Flowable.range(5)
words = Flowable.of("a", "bc")

numbers.pears(2)  # attr-defined | reportAttributeAccessIssue
numbers.pairs(stepp=1)  # call-arg | reportCallIssue
numbers.pairs("2")  # arg-type | reportArgumentType
numbers.pairs(2, step="1")  # arg-type | reportArgumentType
numbers.pairs(2).map(lambda pair: pair.upper())  # attr-defined | reportAttributeAccessIssue
words.total()  # misc | reportAttributeAccessIssue
words.map(str.upper).total()  # misc | reportAttributeAccessIssue
words.map(len).total().map(str.upper)  # arg-type | reportArgumentType
Single.just(1).pairs(2)  # attr-defined | reportAttributeAccessIssue
numbers.pairs = 3  # attr-defined | reportAttributeAccessIssue
unbound = Flowable.pairs  # attr-defined | reportUnknownMemberType


def optional(either: Flowable[int] | Flowable[str], perhaps: Flowable[int] | None) -> None:
    either.total()  # misc | reportAttributeAccessIssue
    perhaps.pairs(2)  # union-attr | reportOptionalMemberAccess
