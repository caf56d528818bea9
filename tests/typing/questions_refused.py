"""Questions that each checker has to refuse. Type-checked only.

Both checkers read the ignores, and to both one that hides nothing is an error.
"""

from __future__ import annotations

from rx_ops import Flowable, Single

numbers = Flowable.range(10)
words = Flowable.of("one", "two")

words.any(lambda word: word + 1)  # type: ignore[operator]
words.find_index(lambda word: word.missing)  # type: ignore[attr-defined]
words.contains(3, lambda word, number: word + number)  # type: ignore[operator]
words.average()  # type: ignore[call-arg]
words.average(str.upper)  # type: ignore[arg-type]
numbers.last().blocking_get().upper()  # type: ignore[attr-defined]
numbers.single_element().blocking_get() + 1  # type: ignore[operator]
Single.sequence_equal(Single.just(1), words)  # type: ignore[arg-type]
