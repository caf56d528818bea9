"""Uses of the operators in latest.py that each checker has to refuse. Type-checked only.

Both checkers read the ignores, and to both one that hides nothing is an error.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true
# What follows from a refusal is no second one:
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from rx_ops import Flowable, OnComplete, Single
from tests.typing.latest import numbers, words

numbers.exhaust_map(lambda n: n)  # type: ignore[arg-type, return-value]
numbers.switch_on_first(lambda first: numbers)  # type: ignore[arg-type, misc]
Flowable.zip_latest(numbers, words, combiner=lambda a: a)  # type: ignore[arg-type, misc]
Flowable.fork_join(numbers, 5)  # type: ignore[call-overload]
numbers.switch_map(lambda n: n)  # type: ignore[arg-type, return-value]
Flowable.combine_latest(numbers, words, combiner=lambda a: a)  # type: ignore[arg-type, misc]
Flowable.combine_latest(numbers, 5)  # type: ignore[call-overload]
numbers.with_latest_from(words, combiner=lambda a: a)  # type: ignore[arg-type, misc]
numbers.with_latest_from()  # type: ignore[call-overload]
numbers.take_until(5)  # type: ignore[call-overload]
numbers.skip_until("x")  # type: ignore[arg-type]
Single.just(1).take_until(5)  # type: ignore[arg-type]
numbers.repeat("2")  # type: ignore[arg-type]
numbers.repeat_when(lambda ends: 5)  # type: ignore[arg-type, return-value]
numbers.retry_backoff(3)  # type: ignore[call-arg]
numbers.retry_backoff(3, 1.0, 2.0)  # type: ignore[call-arg]
Flowable.using(list[int], Flowable.from_iterable, 5)  # type: ignore[arg-type]
words.dematerialize()  # type: ignore[call-arg]
OnComplete(1)  # type: ignore[call-arg]
