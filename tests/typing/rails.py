"""What mypy and pyright infer for rails, lambdas included."""

from __future__ import annotations

from typing import assert_type

import rx_schedulers
from rx_ops import Flowable, Maybe, ParallelFlowable, Single

words = Flowable.of("a", "bb", "ccc").parallel(2)

assert_type(words, ParallelFlowable[str])
assert_type(words.parallelism, int)
assert_type(words.run_on(rx_schedulers.computation(), prefetch=4), ParallelFlowable[str])
assert_type(words.map(lambda word: len(word)), ParallelFlowable[int])
assert_type(words.filter(lambda word: word.islower()), ParallelFlowable[str])
assert_type(words.map(lambda word: (word, 1)).starmap(lambda word, times: len(word) * times), ParallelFlowable[int])
assert_type(words.cast(str), ParallelFlowable[str])
assert_type(Flowable.of(1, "a").parallel(2).of_type(str), ParallelFlowable[str])
assert_type(words.map_optional(lambda word: len(word) or None), ParallelFlowable[int])
assert_type(words.flat_map_iterable(lambda word: [len(word)]), ParallelFlowable[int])
assert_type(words.flat_map(lambda word: Flowable.just(len(word))), ParallelFlowable[int])
assert_type(words.concat_map(lambda word: Single.just(len(word))), ParallelFlowable[int])
assert_type(words.do_on_next(lambda word: word.upper()).do_on_error(lambda error: error.args), ParallelFlowable[str])
assert_type(words.reduce(lambda a, b: a + b), Maybe[str])
assert_type(words.reduce(lambda total, word: total + len(word), 0), ParallelFlowable[int])
assert_type(words.reduce_with(lambda: 0, lambda total, word: total + len(word)), ParallelFlowable[int])
assert_type(words.collect(set), ParallelFlowable[set[str]])
assert_type(words.collect(lambda: set[int](), lambda seen, word: seen.add(len(word))), ParallelFlowable[set[int]])
assert_type(words.sorted(), Flowable[str])
assert_type(words.sorted(lambda word: len(word), reverse=True), Flowable[str])
assert_type(words.map(len).sequential(), Flowable[int])
assert_type(words.sequential(ordered=True, delay_error=True, prefetch=1), Flowable[str])


def lengths(parallel: ParallelFlowable[str], more: int) -> ParallelFlowable[int]:
    return parallel.map(lambda word: len(word) + more)


assert_type(words.pipe(lengths, 1), ParallelFlowable[int])
several: ParallelFlowable[object] = words  # covariant
