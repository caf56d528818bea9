"""Two threads at once. With the GIL they take turns; on a free-threaded build they are meant to run side by side.

What is compared is the time on the clock of the same work, one piece after the other and each on a thread of its own. The targets
hold on a free-threaded build only. Both pieces have functions of their own: where two threads call the same function object, its
reference count is what they wait for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import rx_schedulers
from bench._common import Counting, subscribed
from bench._measure import Case, Goal, Run, Way, faster
from bench._report import build, has_gil
from rx_core import Subscriber
from rx_ops import Flowable

#: Each inner source has so many items, those on threads of their own excepted.
INNER: Final = 100


def parallel_cases(size: int) -> Iterator[Case]:
    yield _own_chains(size)
    yield _own_flat_maps(max(size // 400, 2))
    yield _one_flat_map(size // 8)
    yield _rails(size // 10)


class Foreign:
    """A Publisher that is not of this library: it pushes what it is asked for, and knows nothing of fusion."""

    __slots__ = ("_function", "_size")

    def __init__(self, size: int, function: Callable[[int], int]) -> None:
        self._size = size
        self._function = function

    def subscribe(self, subscriber: Subscriber[int], /) -> None:
        subscriber.on_subscribe(_Pushing(subscriber, self._size, self._function))


class _Pushing:
    """The subscription of a :class:`Foreign`. It is asked by one thread at a time, and not recursively deep (RS 3.3)."""

    __slots__ = ("_at", "_cancelled", "_function", "_size", "_subscriber", "_wanted")

    def __init__(self, subscriber: Subscriber[int], size: int, function: Callable[[int], int]) -> None:
        self._subscriber = subscriber
        self._size = size
        self._function = function
        self._at = 0
        self._wanted = 0
        self._cancelled = False

    def request(self, n: int, /) -> None:
        before = self._wanted
        self._wanted = before + n
        if before:
            return  # a request from within on_next: the loop below sees it
        subscriber, function = self._subscriber, self._function
        while self._wanted and self._at < self._size and not self._cancelled:
            at = self._at
            self._at = at + 1
            subscriber.on_next(function(at))
            self._wanted -= 1
        if self._at == self._size and not self._cancelled:
            self._cancelled = True
            subscriber.on_complete()

    def cancel(self) -> None:
        self._cancelled = True


class _Threaded(Foreign):
    """The same, on a thread of its own, which starts with the subscription and waits for demand."""

    __slots__ = ()

    def subscribe(self, subscriber: Subscriber[int], /) -> None:
        subscriber.on_subscribe(_OnItsThread(subscriber, self._size, self._function))


class _OnItsThread(_Pushing):
    __slots__ = ("_asked", "_demand")

    def __init__(self, subscriber: Subscriber[int], size: int, function: Callable[[int], int]) -> None:
        super().__init__(subscriber, size, function)
        self._asked = threading.Semaphore(0)
        self._demand: list[int] = []
        threading.Thread(target=self._run, daemon=True).start()

    def request(self, n: int, /) -> None:
        self._demand.append(n)
        self._asked.release()

    def cancel(self) -> None:
        super().cancel()
        self._asked.release()

    def _run(self) -> None:
        while not self._cancelled and self._asked.acquire(timeout=60):
            if self._demand:
                super().request(self._demand.pop())


def _functions() -> tuple[Callable[[int], int], Callable[[int], bool]]:
    """New function objects each time: what two threads do not share, they do not wait for."""
    return (lambda item: item + 1), (lambda item: item % 2 == 1)


def _one_after_the_other(pieces: Sequence[Callable[[], int]]) -> Callable[[], int]:
    return lambda: sum(piece() for piece in pieces)


def _side_by_side(pieces: Sequence[Callable[[], int]]) -> Callable[[], int]:
    """Each piece on a thread of its own."""

    def run() -> int:
        totals: list[int] = []
        threads = [threading.Thread(target=lambda piece=piece: totals.append(piece()), daemon=True) for piece in pieces]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(totals) == len(pieces), "a thread failed, or did not end within a minute"
        return sum(totals)

    return run


def _case(name: str, elements: int, ways: dict[str, Run | Way], goal: Goal, note: str = "") -> Case:
    said = f"CPython {build()}" + ("; the target is for free-threaded builds" if has_gil() else "")
    return Case(
        name, elements, ways, [] if has_gil() else [goal], note=f"{note}; {said}" if note else said, waits=True, fastest=True
    )


def _own_chains(size: int) -> Case:
    def chain() -> Callable[[], int]:
        mapper, predicate = _functions()
        doubled, _ = _functions()
        return Flowable.range(size).map(mapper).filter(predicate).map(doubled).sum().blocking_get

    def loop() -> Callable[[], int]:
        mapper, predicate = _functions()
        doubled, _ = _functions()

        def run() -> int:
            total = 0
            for item in range(size):
                value = mapper(item)
                if predicate(value):
                    total += doubled(value)
            return total

        return run

    chains, loops = (chain(), chain()), (loop(), loop())
    ways: dict[str, Run | Way] = {
        "rx, one after the other": _one_after_the_other(chains),
        "rx, two threads": _side_by_side(chains),
        "loops by hand, one after the other": _one_after_the_other(loops),
        "loops by hand, two threads": _side_by_side(loops),
    }
    goal = faster("rx, two threads", 1.6, than="rx, one after the other")
    return _case("two threads, each its own chain", 2 * size, ways, goal)


def _own_flat_maps(inners: int) -> Case:
    def flat_map() -> Callable[[], int]:
        mapper, predicate = _functions()
        return subscribed(Flowable.range(inners).flat_map(lambda _item: Foreign(INNER, mapper)).filter(predicate))

    pieces = (flat_map(), flat_map())
    ways: dict[str, Run | Way] = {
        "rx, one after the other": _one_after_the_other(pieces),
        "rx, two threads": _side_by_side(pieces),
    }
    goal = faster("rx, two threads", 1.4, than="rx, one after the other")
    note = f"each a flat_map to sources that are not of this library, with {INNER} items each"
    return _case("two threads, each its own flat_map over foreign sources", 2 * inners * INNER, ways, goal, note)


class _Until(Counting):
    """A Counting whose end another thread waits for."""

    __slots__ = ("_ended",)

    def __init__(self) -> None:
        super().__init__()
        self._ended = threading.Lock()
        self._ended.acquire()

    def on_error(self, error: Exception, /) -> None:
        self.total = -1
        self._ended.release()

    def on_complete(self) -> None:
        self._ended.release()

    def result(self) -> int:
        assert self._ended.acquire(timeout=60), "the stream did not end within a minute"
        return self.total


def _one_flat_map(size: int) -> Case:
    """The inner sources work on two threads, and what they give goes through one gate.

    One after the other each has a flat_map to itself: the same threads and the same windows, but nothing at the same time.
    """

    def work() -> Callable[[int], int]:
        mapper, _ = _functions()

        def ten_times(item: int) -> int:
            for _ in range(10):
                item = mapper(item)
            return item

        return ten_times

    functions = (work(), work())

    def merged(several: Sequence[Callable[[int], int]]) -> Callable[[], int]:
        def run() -> int:
            end = _Until()
            Flowable.from_iterable(several).flat_map(lambda function: _Threaded(size, function)).subscribe(end)
            return end.result()

        return run

    ways: dict[str, Run | Way] = {
        "rx, one after the other": _one_after_the_other([merged([function]) for function in functions]),
        "rx, two threads": merged(functions),
    }
    goal = faster("rx, two threads", 1.4, than="rx, one after the other")
    note = "each inner source calls ten functions per item, and is asked for 128 at a time"
    return _case("flat_map over foreign sources on two threads", 2 * size, ways, goal, note)


def _rails(size: int) -> Case:
    """One stream on two rails, and on one, with the same queues."""

    def run_on(rails: int, *, ordered: bool = False) -> Callable[[], int]:
        joined = (
            Flowable.range(size)
            .parallel(rails)
            .run_on(rx_schedulers.computation())
            .map(_thirty_microseconds)
            .sequential(ordered=ordered)
        )
        return joined.sum().blocking_get

    ways: dict[str, Run | Way] = {
        "rx, one rail": run_on(1),
        "rx, two rails": run_on(2),
        "rx, two rails in order": run_on(2, ordered=True),
        "loop by hand, one thread": lambda: sum(_thirty_microseconds(item) for item in range(size)),
    }
    goal = faster("rx, two rails", 1.6, than="rx, one rail")
    return _case("parallel on two rails", size, ways, goal, "each item takes some thirty microseconds")


def process_cases(size: int) -> Iterator[Case]:
    """Two processes, with the GIL or without: the target holds on every build."""
    size = max(size // 50, 400)

    def loop() -> int:
        return sum(_hundred_microseconds(item) for item in range(size))

    def run_on(*, ordered: bool = False) -> Callable[[], int]:
        rails = Flowable.range(size).parallel(2).run_on(rx_schedulers.processes(2)).map(_hundred_microseconds)
        return rails.sequential(ordered=ordered).sum().blocking_get

    ways: dict[str, Run | Way] = {
        "loop by hand, one thread": loop,
        "rx, two processes": run_on(),
        "rx, two processes in order": run_on(ordered=True),
    }
    goals = [faster(way, 1.6, than="loop by hand, one thread") for way in ("rx, two processes", "rx, two processes in order")]
    note = "each item takes a hundred microseconds and more; the processes are running already"
    yield Case("parallel on two processes", size, ways, goals, note=note, waits=True, fastest=True)


def _hundred_microseconds(item: int) -> int:
    total = item
    for at in range(3_000):
        total = (total * 31 + at) % 1_000_003
    return total


def _thirty_microseconds(item: int) -> int:
    total = item
    for at in range(500):
        total = (total * 31 + at) % 1_000_003
    return total
