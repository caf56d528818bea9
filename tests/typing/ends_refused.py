"""Uses of ends and of types with at most one item that each checker has to refuse. Type-checked only.

Both checkers read the ignores, and to both one that hides nothing is an error.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true
# What follows from a refusal is no second one:
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from rx_core import Subscription
from rx_ops import Completable, Flowable, Single
from tests.typing.ends import Texts, completable, maybe, numbers, on_text, single, words


class Incomplete:
    def on_subscribe(self, subscription: Subscription, /) -> None: ...
    def on_next(self, item: str, /) -> None: ...


# iteration and blocking
words.blocking_for_each(lambda word: word + 1)  # type: ignore[operator]
wrong: list[int] = words.blocking_list()  # type: ignore[assignment]

# subscribe with callbacks
numbers.subscribe(on_text)  # type: ignore[arg-type]
words.subscribe(on_text, on_error=on_text)  # type: ignore[arg-type]
words.subscribe(on_text, on_finish=print)  # type: ignore[call-arg]
words.subscribe(None)  # type: ignore[arg-type]

# subscribe with a Subscriber: any object with the methods
numbers.subscribe(Texts())  # type: ignore[arg-type]
words.subscribe(Incomplete())  # type: ignore[arg-type]

# Single
single.map(lambda text: text + 1)  # type: ignore[operator]
single.flat_map(lambda text: text)  # type: ignore[arg-type, return-value]
single.flat_map(lambda text: Flowable.of(text))  # type: ignore[arg-type, return-value]
single.filter(len).blocking_get().upper()  # type: ignore[union-attr]
single.take(1)  # type: ignore[attr-defined]
single.subscribe(on_text, on_complete=print)  # type: ignore[call-arg]

Single.zip(single, Single.just(1), combiner=lambda text: text)  # type: ignore[arg-type, misc]
Single.zip(single, numbers)  # type: ignore[call-overload]
Single.zip(single, Single.just(1), delay_error="all")  # type: ignore[call-overload]
Single.timer("1")  # type: ignore[arg-type]

# Maybe
maybe.blocking_get() + 1  # type: ignore[operator]
maybe.map(str.upper)  # type: ignore[arg-type]
wrong_default: Single[int] = maybe.default_if_empty("a")  # type: ignore[arg-type]

# Completable
completable.and_then(3)  # type: ignore[call-overload]
completable.map(str)  # type: ignore[attr-defined]
Completable.from_action(on_text)  # type: ignore[arg-type]
