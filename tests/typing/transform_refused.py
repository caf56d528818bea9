"""Uses of operators that change, choose or watch items that each checker has to refuse. Type-checked only.

Both checkers read the ignores, and to both one that hides nothing is an error.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true
# What follows from a refusal is no second one:
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from rx_ops import Flowable, aggregates
from tests.typing.transform import LengthsBeside, beside, by_length, lengths, mixed, numbers, pairs, repeated, top, words

# map
numbers.map(lambda n: n.upper())  # type: ignore[attr-defined]
numbers.map(lambda n, m: n + m)  # type: ignore[arg-type, misc]
numbers.map(str.upper)  # type: ignore[arg-type]
numbers.map(3)  # type: ignore[arg-type]

# by index, by neighbour, and what may be nothing
words.map_indexed(lambda word: word)  # type: ignore[arg-type, misc]
words.slice(1)  # type: ignore[call-arg]
words.handle(lambda word, emitter: emitter.on_nothing())  # type: ignore[attr-defined]

# starmap
pairs.starmap(lambda n: n)  # type: ignore[arg-type, misc]
pairs.starmap(lambda n, s: s.append(n))  # type: ignore[attr-defined]
numbers.starmap(lambda n: n)  # type: ignore[misc, arg-type]

# flat_map, concat_map: a stream, a Single or a Maybe
words.flat_map(lambda word: word)  # type: ignore[arg-type, return-value]
words.flat_map(len)  # type: ignore[arg-type]
words.concat_map(lambda word: [word])  # type: ignore[arg-type, return-value]
words.concat_map_eager(lambda word: [word])  # type: ignore[arg-type, return-value]

# flat_map_iterable
numbers.flat_map_iterable(lambda n: n)  # type: ignore[arg-type, return-value]

# scan
numbers.scan(lambda total, n: total.upper())  # type: ignore[attr-defined]
words.scan(lambda total, word: total + word, 0)  # type: ignore[operator]

# group_by
words.group_by(lambda word: [word])  # type: ignore[type-var]
by_length.map(lambda group: group.key.upper())  # type: ignore[attr-defined]
words.group_aggregate("word", n=aggregates.count())  # type: ignore[arg-type]
words.group_aggregate(len, n=len)  # type: ignore[arg-type]
words.group_aggregate(lambda word: word.nothing, n=aggregates.count())  # type: ignore[attr-defined]
aggregates.sum("word")  # type: ignore[arg-type]

# buffer
numbers.buffer("3")  # type: ignore[call-overload]
numbers.buffer(3, seconds=0.5)  # type: ignore[call-overload]
numbers.buffer(boundary=[1])  # type: ignore[call-overload]

# window
numbers.window("3")  # type: ignore[call-overload]
numbers.window(boundary=numbers, count=3)  # type: ignore[call-overload]
numbers.window(3).map(lambda some: some.upper())  # type: ignore[attr-defined]

# time
numbers.debounce("1")  # type: ignore[call-overload]
numbers.debounce(1.0, selector=lambda n: numbers)  # type: ignore[call-overload]
numbers.debounce(1.0, on_drop=lambda n: n.upper())  # type: ignore[attr-defined]
numbers.sample()  # type: ignore[call-overload]
numbers.sample(sampler=5)  # type: ignore[call-overload]
numbers.throttle_first()  # type: ignore[call-arg]
numbers.timestamp().map(lambda each: each.value.upper())  # type: ignore[attr-defined]

# cast and of_type
mixed.map(str.upper)  # type: ignore[arg-type]
mixed.of_type("str")  # type: ignore[arg-type]

# what lets some items through keeps their type
words.filter(lambda word: word > 3)  # type: ignore[operator]
numbers.take("3")  # type: ignore[call-overload]

# what looks on
numbers.do_on_complete(lambda item: None)  # type: ignore[arg-type, misc]

# pipe: somebody's function, its arguments checked as in a call
numbers.pipe(top)  # type: ignore[call-arg]
numbers.pipe(top, "3")  # type: ignore[arg-type]
numbers.pipe(top, 3, most=2)  # type: ignore[call-arg]
numbers.pipe(lengths)  # type: ignore[arg-type]

# stage: somebody's stage
words.stage(repeated)  # type: ignore[call-arg]
words.stage(repeated, "2")  # type: ignore[arg-type]
numbers.stage(repeated, 2)  # type: ignore[arg-type]

# through: somebody's coordinating operator
words.through(beside)  # type: ignore[call-overload]
words.through(beside, 2)  # type: ignore[call-overload]
words.through(beside, numbers, times="2")  # type: ignore[arg-type]
words.through(repeated, 2)  # type: ignore[call-overload]
words.through(LengthsBeside)  # type: ignore[call-overload]
words.through(LengthsBeside, 2)  # type: ignore[call-overload]
numbers.through(LengthsBeside, numbers)  # type: ignore[call-overload]

# covariance: a stream of ints is a stream of objects
fewer: Flowable[bool] = numbers  # type: ignore[assignment]

# a misspelt operator
numbers.flatmap(lambda n: Flowable.of(n))  # type: ignore[attr-defined]
