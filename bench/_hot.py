"""Hot sources: nobody pulls, items come when they come."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from bench._common import Counting, add_one, double, is_odd, operators, reactivex
from bench._measure import Case, Way, absent, at_most
from rx_core import UNBOUNDED, Subscription
from rx_core.blocks import CANCELLED_SUBSCRIPTION
from rx_ops import Flowable, PublishProcessor


def hot_cases(size: int) -> Iterator[Case]:
    yield _chain(size)
    yield _merge(size)
    yield _concat_eager(size)
    yield _join(min(size // 20, 1_000))


class _Next:
    """A hand-written operator of one item in, at most one out, that keeps the rules: no None, failures signalled, one end."""

    __slots__ = ("_done", "_down", "_up")

    def __init__(self, down: Counting | _Next) -> None:
        self._down = down
        self._done = False

    def on_subscribe(self, subscription: Subscription, /) -> None:
        self._up = subscription
        self._down.on_subscribe(subscription)

    def on_next(self, item: int, /) -> None:
        raise NotImplementedError

    def on_error(self, error: Exception, /) -> None:
        if not self._done:
            self._done = True
            self._down.on_error(error)

    def on_complete(self) -> None:
        if not self._done:
            self._done = True
            self._down.on_complete()

    def fail(self, error: Exception) -> None:
        self._up.cancel()
        self.on_error(error)


class Mapping(_Next):
    __slots__ = ("_mapper",)

    def __init__(self, down: Counting | _Next, mapper: Callable[[int], int]) -> None:
        super().__init__(down)
        self._mapper = mapper

    def on_next(self, item: int, /) -> None:
        if self._done:
            return
        try:
            value = self._mapper(item)
            if value is None:
                raise TypeError("None is no item")
        except Exception as error:
            self.fail(error)
        else:
            self._down.on_next(value)


class _Filter(_Next):
    __slots__ = ("_predicate",)

    def __init__(self, down: Counting | _Next, predicate: Callable[[int], bool]) -> None:
        super().__init__(down)
        self._predicate = predicate

    def on_next(self, item: int, /) -> None:
        if self._done:
            return
        try:
            wanted = self._predicate(item)
        except Exception as error:
            self.fail(error)
        else:
            if wanted:
                self._down.on_next(item)


class Hub:
    """A hand-written processor: whoever is subscribed gets the item. No demand, no protection against two threads."""

    __slots__ = ("_subscribers",)

    def __init__(self) -> None:
        self._subscribers: list[_Next | Counting | Hub] = []

    def on_subscribe(self, _subscription: Subscription, /) -> None:
        """Nothing is asked for: it takes what comes."""

    def subscribe(self, subscriber: _Next | Counting | Hub) -> None:
        subscriber.on_subscribe(CANCELLED_SUBSCRIPTION)
        self._subscribers.append(subscriber)

    def on_next(self, item: int, /) -> None:
        if item is None:
            raise TypeError("None is no item")
        for subscriber in self._subscribers:
            subscriber.on_next(item)


def _chain(size: int) -> Case:
    def by_hand() -> int:
        total = 0
        for item in range(size):
            value = add_one(item)
            if is_odd(value):
                total += double(value)
        return total

    def operators_by_hand(end: Counting) -> _Next:
        return Mapping(_Filter(Mapping(end, double), is_odd), add_one)

    def direct() -> int:
        end = Counting()
        on_next = end.on_next
        for item in range(size):
            on_next(item)
        return end.total

    def written_subscribers() -> int:
        end = Counting()
        hub = Hub()
        hub.subscribe(operators_by_hand(end))
        for item in range(size):
            hub.on_next(item)
        return end.total

    def without_hub() -> int:
        end = Counting()
        first = operators_by_hand(end)
        first.on_subscribe(CANCELLED_SUBSCRIPTION)
        for item in range(size):
            first.on_next(item)
        return end.total

    def ours() -> int:
        end = Counting()
        source = PublishProcessor[int]()
        source.map(add_one).filter(is_odd).map(double).subscribe(end)
        for item in range(size):
            source.on_next(item)
        return end.total

    def processor_alone() -> int:
        end = Counting()
        source = PublishProcessor[int]()
        source.subscribe(end)
        for item in range(size):
            source.on_next(item)
        return end.total

    def theirs() -> int:
        got = 0

        def add(value: int) -> None:
            nonlocal got
            got += value

        subject = reactivex.Subject()
        subject.pipe(operators.map(add_one), operators.filter(is_odd), operators.map(double)).subscribe(add)
        for item in range(size):
            subject.on_next(item)
        return got

    plain, mapped = size * (size - 1) // 2, by_hand()
    return Case(
        "hot source, map, filter, map",
        size,
        {
            "direct call": Way(direct, expected=plain),
            "hand-written processor and subscribers": Way(written_subscribers, expected=mapped),
            "hand-written subscribers, called directly": Way(without_hub, expected=mapped),
            "rx": Way(ours, expected=mapped),
            "rx, processor alone": Way(processor_alone, expected=plain),
            "reactivex": absent("reactivex") if reactivex is None else Way(theirs, expected=mapped, slow=True),
        },
        [at_most("rx", 4.5), at_most("rx", 1.15, of="hand-written processor and subscribers")],
        note="the direct call is the consumer's on_next alone, without map and filter",
    )


class MergeByHand:
    """A merge of four sources on one thread or several: whoever has the token delivers, the others leave their item (RS 1.3)."""

    __slots__ = ("_dirty", "_down", "_queue", "_token", "_wanted")

    def __init__(self, down: Counting) -> None:
        self._down = down.on_next
        self._queue: deque[int] = deque()
        self._token = {0: True}
        self._dirty = False
        self._wanted = UNBOUNDED

    def on_next(self, item: int, /) -> None:
        if item is None:
            raise TypeError("None is no item")
        token = self._token
        if not self._queue and self._wanted and token.pop(0, None) is not None:
            try:
                if self._wanted != UNBOUNDED:
                    self._wanted -= 1
                self._down(item)
            finally:
                token[0] = True
            if not self._dirty:
                return
        else:
            self._queue.append(item)
            self._dirty = True
        self._drain()

    def _drain(self) -> None:
        queue, token = self._queue, self._token
        while self._dirty and token.pop(0, None) is not None:
            try:
                self._dirty = False
                while queue and self._wanted:
                    self._down(queue.popleft())
            finally:
                token[0] = True


def _merge(size: int) -> Case:
    def feed(entries: list[Callable[[int], object]]) -> None:
        one, two, three, four = entries
        for item in range(0, size, 4):
            one(item)
            two(item)
            three(item)
            four(item)

    def by_hand() -> int:
        end = Counting()
        merged = MergeByHand(end)
        feed([merged.on_next] * 4)
        return end.total

    def behind_hubs() -> int:
        """The same merge with something to subscribe to in front of it, as ours has."""
        end = Counting()
        merged = MergeByHand(end)
        hubs = [Hub() for _ in range(4)]
        for hub in hubs:
            hub.subscribe(Entry(end, merged))
        feed([hub.on_next for hub in hubs])
        return end.total

    def ours() -> int:
        end = Counting()
        sources = [PublishProcessor[int]() for _ in range(4)]
        Flowable.merge(*sources).subscribe(end)
        feed([source.on_next for source in sources])
        return end.total

    def theirs() -> int:
        got = 0

        def add(value: int) -> None:
            nonlocal got
            got += value

        sources = [reactivex.Subject() for _ in range(4)]
        reactivex.merge(*sources).subscribe(add)
        feed([source.on_next for source in sources])
        return got

    return Case(
        "merge of four hot sources",
        len(range(0, size, 4)) * 4,
        {
            "hand-written merge behind processors": behind_hubs,
            "hand-written merge, called directly": by_hand,
            "rx": ours,
            "reactivex": absent("reactivex") if reactivex is None else Way(theirs, slow=True),
        },
        [at_most("rx", 1.2)],
    )


def _concat_eager(size: int) -> Case:
    """Three of four sources wait for their turn, with all that they have: what a queue and an order cost over a merge."""

    def fed(join: Callable[..., Flowable[int]]) -> Callable[[], int]:
        def run() -> int:
            end = Counting()
            sources = [PublishProcessor[int]() for _ in range(4)]
            join(*sources, prefetch=UNBOUNDED).subscribe(end)
            one, two, three, four = (source.on_next for source in sources)
            for item in range(0, size, 4):
                one(item)
                two(item)
                three(item)
                four(item)
            for source in sources:
                source.on_complete()
            return end.total

        return run

    return Case(
        "eager concat of four hot sources",
        len(range(0, size, 4)) * 4,
        {"rx, merge": fed(Flowable.merge), "rx, concat_eager": fed(Flowable.concat_eager)},
        [at_most("rx, concat_eager", 1.3)],
    )


def _join(keys: int) -> Case:
    """Both sources send ``keys`` items, each of which lives until so many others have come: the cost of a row, not of a look."""

    def rows(window: int) -> int:
        return sum(2 * min(at, window) + 1 for at in range(keys))

    def joined(window: int) -> Callable[[], int]:
        def run() -> int:
            end = Counting()
            left, right = PublishProcessor[int](), PublishProcessor[int]()
            alive: deque[PublishProcessor[int]] = deque()

            def begin(_item: int) -> PublishProcessor[int]:
                alive.append(PublishProcessor())
                return alive[-1]

            left.join(right, begin, begin, lambda _one, _other: 1).subscribe(end)
            for item in range(keys):
                left.on_next(item)
                right.on_next(item)
                if item >= window:
                    alive.popleft().on_complete()
                    alive.popleft().on_complete()
            return end.total

        return run

    few, many = 10, 100
    return Case(
        "join of hot sources, per row",
        rows(few),
        {
            f"rx, {few} live": Way(joined(few), expected=rows(few)),
            f"rx, {many} live": Way(joined(many), elements=rows(many), expected=rows(many)),
        },
        [at_most(f"rx, {many} live", 1.0)],
    )


class Entry(_Next):
    """One source's subscriber in the merge written by hand."""

    __slots__ = ("_merged",)

    def __init__(self, down: Counting, merged: MergeByHand) -> None:
        super().__init__(down)
        self._merged = merged

    def on_next(self, item: int, /) -> None:
        if not self._done:
            self._merged.on_next(item)
