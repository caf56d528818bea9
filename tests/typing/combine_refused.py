"""Uses of sources and of operators over whole streams that each checker has to refuse. Type-checked only.

Both checkers read the ignores, and to both one that hides nothing is an error.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true
# What follows from a refusal is no second one:
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from rx_ops import Emitter, Flowable, Single
from tests.typing.combine import dropped, fill, lifetime, listen, numbers, plain, step, words


def listen_wrongly(emitter: Emitter[str]) -> None:
    emitter.on_next(1)  # type: ignore[arg-type]


def joined(a: int, b: int) -> str:
    return f"{a}{b}"


# sources
Flowable.from_iterable(3)  # type: ignore[arg-type]
Flowable.range("a")  # type: ignore[arg-type]
Flowable.error("no exception")  # type: ignore[arg-type]
Flowable.create(listen, "LATEST")  # type: ignore[arg-type]
Flowable.generate(lambda: "0", step)  # type: ignore[misc]

# zip
Flowable.zip(numbers, words, combiner=lambda n: n)  # type: ignore[arg-type, misc]
Flowable.zip(numbers, [1])  # type: ignore[call-overload]
Flowable.zip(numbers, words, combiner=lambda n, word: word.nothing)  # type: ignore[attr-defined]
numbers.zip_with(words, lambda n: n)  # type: ignore[arg-type, misc]

# merge, concat, start_with
Flowable.merge(numbers, [1])  # type: ignore[call-overload]
Flowable.merge_ordered(plain, plain)  # type: ignore[type-var]
Flowable.merge_ordered(words, words, key=3)  # type: ignore[call-overload]
numbers.join(words, lambda n: n, lambda word: words)  # type: ignore[arg-type, return-value]
numbers.group_join(words, lifetime, lifetime)  # type: ignore[call-arg]
Flowable.concat_eager(numbers, [1])  # type: ignore[call-overload]
Single.merge(Single.just(1), numbers)  # type: ignore[call-overload]
Flowable.merge(numbers, words).map(lambda n: n + 1)  # type: ignore[operator]
wrong_start: Flowable[int] = numbers.start_with("a")  # type: ignore[arg-type]
wrong_end: Flowable[int] = numbers.concat_with(words)  # type: ignore[arg-type]

# errors
numbers.on_error_return(lambda: 1)  # type: ignore[arg-type, misc]
numbers.on_error_resume_next(lambda error: 1)  # type: ignore[arg-type, return-value]
numbers.retry("3")  # type: ignore[arg-type]

# reduce
numbers.reduce(lambda a: a)  # type: ignore[arg-type, misc]
words.reduce(lambda total, word: total + word, 0)  # type: ignore[operator]

# collect
numbers.collect(", ".join)  # type: ignore[arg-type]
numbers.collect(dict)  # type: ignore[arg-type]
numbers.collect(3)  # type: ignore[call-overload]
words.collect(lambda: list[str](), fill)  # type: ignore[arg-type]

# to_list, to_dict
numbers.to_dict()  # type: ignore[call-overload]
words.to_dict(lambda word: [word])  # type: ignore[type-var]

# count, sum, min, max, first, element_at
words.sum()  # type: ignore[misc]
plain.min()  # type: ignore[call-arg]
plain.max()  # type: ignore[call-arg]
words.max(lambda word: word.nothing)  # type: ignore[attr-defined]
wrong_first: Single[str] = words.first(3)  # type: ignore[call-overload]
words.element_at("3")  # type: ignore[arg-type]

# threads, backpressure, conversions
words.on_backpressure_drop(dropped)  # type: ignore[arg-type]
numbers.observe_on("io")  # type: ignore[arg-type]
numbers.delay("1")  # type: ignore[call-overload]

# what is given to a reducer is inferred elsewhere, and still checked
words.group_reduce(len, len, joined)  # type: ignore[arg-type]
words.group_reduce(len, len, 3)  # type: ignore[arg-type]
numbers.reduce_with(lambda: 0, lambda total, n: str(n))  # type: ignore[arg-type, return-value]
