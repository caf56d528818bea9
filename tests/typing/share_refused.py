"""Uses of processors and connectables that each checker has to refuse. Type-checked only.

Both checkers read the ignores, and to both one that hides nothing is an error.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true
# What follows from a refusal is no second one:
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from rx_ops import Flowable, PublishProcessor, ReplayProcessor
from tests.typing.share import add, call, clicks, numbers, words

clicks.on_next("a")  # type: ignore[arg-type]
clicks.offer("a")  # type: ignore[arg-type]
clicks.on_error("oops")  # type: ignore[arg-type]
words.subscribe(clicks)  # type: ignore[arg-type]
ReplayProcessor[int]("2")  # type: ignore[arg-type]
PublishProcessor[int](1)  # type: ignore[call-arg]

numbers.connect()  # type: ignore[attr-defined]
numbers.share().connect()  # type: ignore[attr-defined]
numbers.publish().map(str).connect()  # type: ignore[attr-defined]
numbers.publish(lambda shared: 7)  # type: ignore[arg-type, return-value]
numbers.publish(7)  # type: ignore[call-overload]
numbers.publish().ref_count("2")  # type: ignore[arg-type]
numbers.replay("2")  # type: ignore[call-overload]

Flowable.from_listener(add)  # type: ignore[call-overload]
Flowable.generate_async(lambda: 1, call)  # type: ignore[misc]
