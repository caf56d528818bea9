"""What a type checker has to refuse about rails. Both read the ignores, and to both one that hides nothing is an error."""

# pyright: reportUnnecessaryTypeIgnoreComment=true
# What follows from a refusal is no second one:
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from rx_ops import Flowable, ParallelFlowable

words = Flowable.of("a", "bb").parallel(2)


class Plain:
    """Without an order."""


words.take(1)  # type: ignore[attr-defined]
words.map(lambda word: word + 1)  # type: ignore[operator]
words.run_on("io")  # type: ignore[arg-type]
words.sequential(True)  # type: ignore[call-arg]
words.flat_map(len)  # type: ignore[arg-type]
Flowable.of(Plain()).parallel(2).sorted()  # type: ignore[call-arg]
Flowable.range(2).parallel("2")  # type: ignore[arg-type]
numbers: ParallelFlowable[int] = words  # type: ignore[assignment]
