"""Sources side by side in the naive reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push.flattening import Inner
from tests.invisible.push.streams import (
    Count,
    Failure,
    Flow,
    Gate,
    Prefetch,
    Side,
    Stage,
    Subscriber,
    Subscription,
    Waiting,
    all_of,
    completing,
    required,
)

Fn = Callable[..., Any]


class Zip(Stage):
    """The first items of all sources together, the second items, ...; it ends when one source has no more to give.

    With ``delay_error`` a source that fails has no more to give, which is all until then.
    """

    def __init__(
        self, down: Subscriber, combiner: Fn, flows: list[Flow], prefetch: Count, ahead: bool, delay_error: bool
    ) -> None:
        super().__init__(down)
        self.delay_error = delay_error
        self.errors: list[Failure] = []
        self.combiner = combiner
        self.flows = flows
        self.ahead = ahead
        sizes = [0 if flow.passive else prefetch for flow in flows]
        self.failure: Failure | None = None
        self.wanted: Count = 0
        self.gate = Gate(self.give)
        self.inners = [Inner(n, Prefetch(n).limit, self.gate.run, self.inner_error) for n in sizes]

    def begin(self) -> None:
        self.down.on_subscribe(self)
        for inner, flow in zip(self.inners, self.flows, strict=True):
            if self.over or self.failure:
                return
            flow.subscribe(inner)

    def inner_error(self, inner: Inner, failure: Failure) -> None:
        if self.delay_error:
            self.errors.append(failure)
            inner.done = True
        else:
            self.failure = self.failure or failure
        self.gate.run()

    def request(self, n: Count) -> None:
        self.wanted += n
        self.gate.run()

    def cancel(self) -> None:
        self.over = True
        self.leave()

    def leave(self) -> None:
        for inner in self.inners:
            inner.cancel()

    def look(self) -> bool:
        """Whether a source has no more to give. They are looked at in their order, up to the first that ends the stream."""
        for inner in self.inners:
            if self.failure:
                return False
            if inner.done and not inner.items:
                return True
            if self.wanted or self.ahead:
                inner.fetch()
        return False

    def give(self) -> None:
        while not self.over:
            ended = self.look()
            if self.failure:
                self.leave()
                self.fail(all_of([*self.errors, self.failure]))
            elif ended:
                self.leave()
                if self.errors:
                    self.fail(all_of(self.errors))
                else:
                    self.finish()
            elif self.wanted and all(inner.items for inner in self.inners):
                try:
                    item = required(self.combiner(*[inner.items.pop(0) for inner in self.inners]))
                except Failure as failure:
                    self.failure = failure
                    continue
                self.wanted -= 1
                self.down.on_next(item)
                for inner in self.inners:
                    inner.took()
            else:
                return


def zipped(
    flows: list[Flow], combiner: Fn, prefetch: Count, kind: str = "flowable", ahead: bool = True, delay_error: bool = False
) -> Flow:
    if not flows:
        return Flow(completing, kind)
    return Flow(lambda down: Zip(down, combiner, flows, prefetch, ahead, delay_error).begin(), kind)


class ZipLatest(Stage):
    """The newest items of all sources, once each has one that was in no row. An item waits until a newer one of its source comes.

    A source that is over, with no item that waits, ends the stream.
    """

    def __init__(self, down: Subscriber, combiner: Fn, count: int) -> None:
        super().__init__(down)
        self.combiner = combiner
        self.newest: list[Any] = [None] * count
        self.done = [False] * count
        self.failure: Failure | None = None
        self.wanted: Count = 0
        self.gate = Gate(self.give)
        self.sides = [
            Side(
                lambda item, i=i: self.item(i, item),  # type: ignore[misc]  # mypy does not see the default of a lambda
                self.side_error,
                lambda i=i: self.side_complete(i),  # type: ignore[misc]  # as above
            )
            for i in range(count)
        ]

    def begin(self, *flows: Flow) -> None:
        self.down.on_subscribe(self)
        for side, flow in zip(self.sides, flows, strict=True):
            if self.over:
                return
            flow.subscribe(side)

    def item(self, i: int, item: Any) -> None:
        self.newest[i] = item
        self.gate.run()

    def side_error(self, failure: Failure) -> None:
        self.failure = self.failure or failure
        self.gate.run()

    def side_complete(self, i: int) -> None:
        self.done[i] = True
        self.gate.run()

    def request(self, n: Count) -> None:
        self.wanted += n
        self.gate.run()

    def cancel(self) -> None:
        self.over = True
        self.leave()

    def leave(self) -> None:
        for side in self.sides:
            side.cancel()

    def give(self) -> None:
        while not self.over:
            if self.failure:
                self.leave()
                self.fail(self.failure)
            elif any(done and item is None for done, item in zip(self.done, self.newest, strict=True)):
                self.leave()
                self.finish()
            elif self.wanted and all(item is not None for item in self.newest):
                row, self.newest = self.newest, [None] * len(self.newest)
                try:
                    item = required(self.combiner(*row))
                except Failure as failure:
                    self.failure = failure
                    continue
                self.wanted -= 1
                self.down.on_next(item)
            else:
                return


def zip_latest(flows: list[Flow], combiner: Fn) -> Flow:
    return Flow(lambda down: ZipLatest(down, combiner, len(flows)).begin(*flows))


class CombineLatest(Waiting):
    """The latest items of all sources whenever one of them has a new one.

    A source that ends without an item ends the stream; otherwise the last source does. With ``delay_error`` an error counts as
    an end, and is given in the place of the completion.
    """

    def __init__(self, down: Subscriber, combiner: Fn, count: int, prefetch: Count, delay_error: bool) -> None:
        super().__init__(down)
        self.combiner, self.delay_error = combiner, delay_error
        self.latest: list[Any] = [None] * count
        self.running = count
        self.errors: list[Failure] = []
        self.demands = [Prefetch(prefetch) for _ in range(count)]
        self.sides = [
            Side(
                lambda item, i=i: self.item(i, item),  # type: ignore[misc]  # mypy does not see the default of a lambda
                lambda failure, i=i: self.side_error(i, failure),  # type: ignore[misc]  # as above
                lambda i=i: self.side_complete(i),  # type: ignore[misc]  # as above
                prefetch,
            )
            for i in range(count)
        ]

    def begin(self, *flows: Flow) -> None:
        self.down.on_subscribe(self)
        for side, flow in zip(self.sides, flows, strict=True):
            if self.over or self.done:
                return
            flow.subscribe(side)

    def item(self, i: int, item: Any) -> None:
        self.latest[i] = item
        if any(each is None for each in self.latest):
            self.demands[i].took(self.sides[i].up)
        else:
            self.put((i, list(self.latest)))

    def side_error(self, i: int, failure: Failure) -> None:
        self.errors.append(failure)
        if self.delay_error:
            self.side_complete(i)
        else:
            self.leave()
            self.end()

    def side_complete(self, i: int) -> None:
        self.running -= 1
        if self.latest[i] is None or self.running == 0:
            self.end()

    def cancel(self) -> None:
        self.over = True
        self.leave()

    def leave(self) -> None:
        for side in self.sides:
            side.cancel()

    def give(self) -> None:
        while not self.over:
            if self.done and self.errors and not self.delay_error:
                self.leave()
                self.fail(all_of(self.errors))
            elif self.items:
                if not self.wanted:
                    return
                i, row = self.items.pop(0)
                try:
                    item = required(self.combiner(*row))
                except Failure as failure:
                    self.leave()
                    self.fail(all_of([*self.errors, failure]))
                    return
                self.wanted -= 1
                self.down.on_next(item)
                self.demands[i].took(self.sides[i].up)
            elif self.done:
                self.leave()
                if self.errors:
                    self.fail(all_of(self.errors))
                else:
                    self.finish()
            else:
                return


def combine_latest(flows: list[Flow], combiner: Fn, prefetch: Count, delay_error: bool = False) -> Flow:
    if not flows:
        return Flow(completing)
    return Flow(lambda down: CombineLatest(down, combiner, len(flows), prefetch, delay_error).begin(*flows))


class WithLatestFrom(Stage):
    """Items of the source together with the latest of the others; without one of each they are dropped."""

    def __init__(self, down: Subscriber, combiner: Fn, count: int) -> None:
        super().__init__(down)
        self.combiner = combiner
        self.latest: list[Any] = [None] * count
        self.sides = [
            Side(
                lambda item, i=i: self.remember(i, item),  # type: ignore[misc]  # mypy does not see the default of a lambda
                self.side_error,
                lambda i=i: self.side_complete(i),  # type: ignore[misc]  # as above
            )
            for i in range(count)
        ]

    def remember(self, i: int, item: Any) -> None:
        self.latest[i] = item

    def side_error(self, failure: Failure) -> None:
        self.up.cancel()
        self.leave()
        self.fail(failure)

    def side_complete(self, i: int) -> None:
        if self.latest[i] is None and len(self.sides) > 1:
            self.up.cancel()
            self.leave()
            self.finish()

    def next(self, item: Any) -> None:
        if any(each is None for each in self.latest):
            self.up.request(1)
        else:
            value = required(self.combiner(item, *self.latest))
            self.down.on_next(value)

    def fail(self, failure: Failure) -> None:
        self.leave()
        super().fail(failure)

    def finish(self) -> None:
        self.leave()
        super().finish()

    def cancel(self) -> None:
        super().cancel()
        self.leave()

    def leave(self) -> None:
        for side in self.sides:
            side.cancel()


def with_latest_from(source: Flow, others: list[Flow], combiner: Fn) -> Flow:
    def subscribe(down: Subscriber) -> None:
        stage = WithLatestFrom(down, combiner, len(others))
        beside(stage, source, list(zip(others, stage.sides, strict=True)))

    return Flow(subscribe)


def beside(stage: Stage, source: Flow, others: list[tuple[Flow, Subscriber]]) -> None:
    """Subscribe to other sources first, then to the source: requests wait for it.

    RxJava subscribes to it even if the stream is over by then, and cancels: only a source that counts its subscribers shows that.
    The library does not.
    """
    late = Late(stage)
    stage.up = late
    stage.down.on_subscribe(stage)
    for flow, side in others:
        flow.subscribe(side)
    if not stage.over:
        source.subscribe(late)


class Late(Subscriber, Subscription):
    """Stands between a stage and a source that it is subscribed to later."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.up: Subscription | None = None
        self.wanted: Count = 0
        self.cancelled = False

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        if self.cancelled:
            up.cancel()
        elif self.wanted:
            up.request(self.wanted)

    def on_next(self, item: Any) -> None:
        self.stage.on_next(item)

    def on_error(self, failure: Failure) -> None:
        self.stage.on_error(failure)

    def on_complete(self) -> None:
        self.stage.on_complete()

    def request(self, n: Count) -> None:
        if self.up:
            self.up.request(n)
        else:
            self.wanted += n

    def cancel(self) -> None:
        self.cancelled = True
        if self.up:
            self.up.cancel()


class TakeUntil(Stage):
    """The source until another one gives something or completes."""

    def __init__(self, down: Subscriber) -> None:
        super().__init__(down)
        self.side = Side(lambda _: self.side_end(), self.side_error, self.side_end)

    def side_error(self, failure: Failure) -> None:
        self.side.cancel()
        self.up.cancel()
        self.fail(failure)

    def side_end(self) -> None:
        self.side.cancel()
        self.up.cancel()
        self.finish()

    def fail(self, failure: Failure) -> None:
        self.side.cancel()
        super().fail(failure)

    def finish(self) -> None:
        self.side.cancel()
        super().finish()

    def cancel(self) -> None:
        super().cancel()
        self.side.cancel()


class SingleTakeUntil(TakeUntil):
    """A single has no way to complete without an item."""

    def side_end(self) -> None:
        self.side_error(Failure("Cancellation"))


def take_until(source: Flow, other: Flow) -> Flow:
    def subscribe(down: Subscriber) -> None:
        stage = SingleTakeUntil(down) if source.kind == "single" else TakeUntil(down)
        beside(stage, source, [(other, stage.side)])

    return Flow(subscribe, source.kind)


class SkipUntil(TakeUntil):
    """Drops items until another source gives something or completes."""

    open = False

    def side_end(self) -> None:
        self.open = True
        self.side.cancel()

    def next(self, item: Any) -> None:
        if self.open:
            self.down.on_next(item)
        else:
            self.up.request(1)


def skip_until(source: Flow, other: Flow) -> Flow:
    def subscribe(down: Subscriber) -> None:
        stage = SkipUntil(down)
        beside(stage, source, [(other, stage.side)])

    return Flow(subscribe)


class Amb(Stage):
    """The source that signals first; the others are cancelled."""

    def __init__(self, down: Subscriber, count: int) -> None:
        super().__init__(down)
        self.wanted: Count = 0
        self.winner: Runner | None = None
        self.runners = [self.runner() for _ in range(count)]

    def runner(self) -> Runner:
        return Runner(self)

    def begin(self, *flows: Flow) -> None:
        self.down.on_subscribe(self)
        for runner, flow in zip(self.runners, flows, strict=True):
            if self.over or self.winner:
                return
            flow.subscribe(runner)

    def wins(self, runner: Runner) -> bool:
        if not self.winner:
            self.winner = runner
            for other in self.runners:
                if other is not runner:
                    other.cancelled = True
                    other.up.cancel()
        return self.winner is runner

    def request(self, n: Count) -> None:
        self.wanted += n
        for runner in [self.winner] if self.winner else self.runners:
            if not runner.over:
                runner.up.request(n)

    def cancel(self) -> None:
        self.over = True
        for runner in self.runners:
            runner.cancelled = True
            runner.up.cancel()


class Runner(Subscriber):
    def __init__(self, amb: Amb) -> None:
        self.amb = amb
        self.up = Subscription()
        self.cancelled = False
        self.over = False

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        if self.cancelled:
            up.cancel()
        elif self.amb.wanted:
            up.request(self.amb.wanted)

    def on_next(self, item: Any) -> None:
        if self.amb.wins(self):
            self.amb.on_next(item)

    def on_error(self, failure: Failure) -> None:
        if self.amb.wins(self):
            self.amb.on_error(failure)

    def on_complete(self) -> None:
        if self.amb.wins(self):
            self.amb.on_complete()


def amb(flows: list[Flow], kind: str = "flowable") -> Flow:
    return Flow(lambda down: Amb(down, len(flows)).begin(*flows), kind) if flows else Flow(completing, kind)


class FirstWithValue(Amb):
    """The source whose item comes first; what ends before its first item is out."""

    def __init__(self, down: Subscriber, count: int) -> None:
        super().__init__(down, count)
        self.failures: list[Failure] = []

    def runner(self) -> Runner:
        return Candidate(self)

    def out(self, runner: Runner, failure: Failure | None) -> None:
        runner.over = True
        if failure:
            self.failures.append(failure)
        if all(each.over for each in self.runners):
            if self.failures:
                self.fail(all_of(self.failures))
            else:
                self.finish()


class Candidate(Runner):
    amb: FirstWithValue

    def on_error(self, failure: Failure) -> None:
        if self.amb.winner is self:
            self.amb.on_error(failure)
        elif not self.cancelled:
            self.amb.out(self, failure)

    def on_complete(self) -> None:
        if self.amb.winner is self:
            self.amb.on_complete()
        elif not self.cancelled:
            self.amb.out(self, None)


def first_with_value(flows: list[Flow]) -> Flow:
    return Flow(lambda down: FirstWithValue(down, len(flows)).begin(*flows)) if flows else Flow(completing)
