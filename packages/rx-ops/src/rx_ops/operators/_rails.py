"""Rails: each on a worker of its own, and joined to one stream again, as their items come or in the order of the source."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rx_core import UNBOUNDED, Answer, ProcessPool, RemoteCalls, composite
from rx_core.streams import MergedInput, Op, QueuedInput
from rx_fusion import Feed, OperatorHead, Pipeline, Shape, op, shape_of
from rx_fusion._notes import calls
from rx_fusion._shapes import PULL_FREE
from rx_ops.operators._flat_map import Merge
from rx_ops.operators._observe_on import ObserveOn
from rx_ops.operators._parallel import rails_of

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber
    from rx_core.streams import Listening

T = TypeVar("T")


@op("run_on")
class RunOn(ObserveOn[T]):
    """A rail on a worker of its own."""

    __slots__ = ()


#: How long a list of items keeps a process at work, at best: long against sending it, short against a cancel.
_SECONDS: Final = 0.01
#: How many lists a process has of a rail: one to compute, one to go on with.
_AHEAD: Final = 2


class Written(str):
    """The origin of stages that are not where their pipeline is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Shipped:
    """Stages for another process. ``before`` is what they are behind, for messages."""

    __slots__ = ("args", "before", "shape")

    def __init__(self, before: Written, shape: Shape, args: tuple[Any, ...]) -> None:
        self.before = before
        self.shape = shape
        self.args = args

    def __call__(self, items: list[Any]) -> Iterable[Any]:
        return self.shape.pull(iter(items), None, self.before, self.args, PULL_FREE[Feed.CLEAN])

    def __repr__(self) -> str:
        return f"{self.before!r}{calls(self.shape.stages, self.args)}"


@op("run_on")
class RunElsewhere(Op[T]):
    """A rail whose first stages run in another process. Lists of its items are sent, as long as the process has few of them."""

    __slots__ = ("answers", "calls", "came", "count", "failure", "main", "most", "pool", "sent", "shipped", "size", "source")

    on_worker: ClassVar[bool] = True
    main: QueuedInput[Any]
    #: What came back and was not looked at; and the results of the list that was looked at last, for how many items.
    answers: deque[Answer]
    came: deque[Any]
    count: int
    #: The function failed, behind these results.
    failure: Exception | None
    #: How many lists the process has.
    sent: int
    #: How many items the next list may have, and the most.
    size: int
    most: int
    calls: RemoteCalls | None

    def __init__(
        self, down: Subscriber[T], source: Publisher[Any], pool: ProcessPool, shape: Shape, args: tuple[Any, ...], prefetch: int
    ) -> None:
        super().__init__(down)
        self.source = source
        self.pool = pool
        self.shipped = Shipped(Written(f"run_on({pool!r})"), shape, args)
        self.main = QueuedInput(self, prefetch)
        self.answers = deque()
        self.came = deque()
        self.count = 0
        self.failure = None
        self.sent = 0
        self.size = 1
        self.most = max(1, prefetch >> 2)
        self.calls = None

    def open(self) -> None:
        self.main.open(self.source)
        self.calls = self.pool.connect(self.shipped, self.answered)

    def answered(self, answer: Answer) -> None:
        self.answers.append(answer)
        self.drain_on_worker()

    def step(self, demand: int) -> int:
        main = self.main
        came = self.came
        while True:
            done = main.done  # before the queue: what came before the end is there
            if done and main.error is not None:
                return self.finish(main.error)  # overtakes what waits, as on a worker of this process
            while came and demand and not self.dirty:
                if demand is not UNBOUNDED:
                    demand -= 1
                self.emit(came.popleft())
            if came or self.dirty:
                self.send()
                return demand
            if self.failure is not None:
                return self.finish(self.failure)
            count, self.count = self.count, 0
            for _ in range(count):
                main.took()  # their results are out
            self.send()
            if self.answers:
                self.take(self.answers.popleft())
            elif done and not main.queue and not self.sent:
                return self.finish()
            else:
                return demand

    def send(self) -> None:
        queue = self.main.queue
        while self.calls is not None and queue and self.sent < _AHEAD and self.failure is None:
            items = [queue.popleft() for _ in range(min(len(queue), self.size))]
            self.sent += 1
            self.calls.send(items)

    def take(self, answer: Answer) -> None:
        self.sent -= 1
        self.came.extend(answer.results)
        self.count = answer.size
        self.failure = answer.error
        right = int(answer.size * _SECONDS / answer.seconds) if answer.seconds else self.most
        self.size = max(1, min(right, 2 * self.size, self.most))
        self.send()

    def listening(self) -> Iterable[Listening]:
        return (self.main,)

    def close(self) -> None:
        self.main.close()
        if self.calls is not None:
            self.calls.close()
        self.came.clear()
        self.answers.clear()


def elsewhere(
    rail: Pipeline[T], pool: ProcessPool, shape: Shape, args: tuple[Any, ...], prefetch: int, stays: str = ""
) -> OperatorHead:
    """``rail`` behind ``run_on(pool)``, with the stages that go along. ``stays``: the name of the first that does not."""
    said = [f"processes: {shape!r} runs in one of them" if shape else "processes: nothing runs there that is of this rail"]
    if stays:
        why = "looks on" if stays.startswith("do_") else "is about more than one item"
        said.append(f"this process: {stays}, which {why}, and what is behind it")
    shown = partial(_shown, pool, shape, args)
    return OperatorHead(RunElsewhere, (rail,), (pool, shape, args, prefetch), window=prefetch, shown=shown, said=tuple(said))


def _shown(pool: ProcessPool, shape: Shape, args: tuple[Any, ...]) -> str:
    return f"run_on({pool!r}){calls(shape.stages, args)}"


#: What is sent along: all that looks at each item by itself.
_GOES_ALONG: Final = frozenset(("map", "starmap", "cast", "filter", "of_type", "map_optional", "flat_map_iterable"))


def sent_along(rail: Pipeline[T]) -> Pipeline[T]:
    """``rail``, of whose stages those right behind ``run_on(processes)`` that look at each item by itself go along."""
    head = rail._head
    if not isinstance(head, OperatorHead) or head.function is not RunElsewhere:
        return rail
    stages = rail._shape.stages
    at = next((at for at, each in enumerate(stages) if not each.guard and each.name not in _GOES_ALONG), len(stages))
    stays = stages[at].name if at < len(stages) else ""
    if not at and (not stays or len(head.notes()) > 1):
        return rail
    along, along_args, rest, rest_args = rail._shape.split(rail._args, at)
    pool, shape, args, prefetch = head.args
    shape = shape_of([each.step for each in (*shape.stages, *along.stages)])
    return type(rail)(elsewhere(head.upstream[0], pool, shape, args + along_args, prefetch, stays), rest, rest_args)


class _JoinedInput(MergedInput[T]):
    """A rail. An error of the source comes by all of them, and was signalled with the first."""

    __slots__ = ()

    def on_error(self, error: Exception, /) -> None:
        if self.closed and error is self.op.told:
            return
        super().on_error(error)


@op("sequential")
class Sequential(Merge[T]):
    """All rails side by side, as a merge has it; then what divides the source is connected."""

    __slots__ = ("rail", "told")

    #: What the stream ended with.
    told: Exception | None

    def __init__(self, down: Subscriber[T], rail: Pipeline[T], prefetch: int, delay_error: bool) -> None:
        super().__init__(down, (), prefetch, delay_error)
        self.rail = rail
        self.told = None

    def new_input(self) -> MergedInput[T]:
        made: MergedInput[T] = _JoinedInput(self, self.prefetch)  # rails are never passive
        self.inputs[made] = None
        return made

    def open(self) -> None:
        split, self.sources = rails_of(self.rail)
        super().open()
        if not self.stopped:
            split.connect()

    def fail(self, error: Exception) -> bool:
        if any(error is each for each in self.errors):
            return not self.delay_error
        return super().fail(error)

    def finish(self, error: Exception | None = None) -> int:
        self.told = error  # before the other rails are cancelled
        return super().finish(error)


# -- in the order of the source ----------------------------------------


class _Last(list[Any]):
    """No items, and that the item of the source that has its turn has no more."""

    __slots__ = ()

    def __reduce__(self) -> str:
        return "LAST"


LAST: Final = _Last()


class _OrderedInput(QueuedInput[Any]):
    """A rail, from which the results of its next item are taken when that is the source's next."""

    __slots__ = ()

    def on_error(self, error: Exception, /) -> None:
        if self.closed and error is self.op.told:
            return
        self.error = error
        self.op.failed = True  # behind the error: who sees this finds it
        self.done = True
        self.op.drain()


@op("sequential")
class Ordered(Op[T]):
    """All rails, in the order of the source. What divides the source notes which rail got an item, and each rail says where what
    it makes of an item ends, so the next result is that of the rail that got the next item."""

    __slots__ = (
        *("all_lists", "current", "delay_error", "failed", "feeding", "in_parts"),
        *("inputs", "order", "prefetch", "rail", "told"),
    )

    #: The description of a rail that gives lists; or the items themselves, where there is nothing between.
    rail: Pipeline[Any]
    all_lists: bool
    #: The lists are parts, up to ``LAST``.
    in_parts: bool
    #: The numbers of the rails that got the next items.
    order: deque[int]
    inputs: Sequence[_OrderedInput]
    #: What is left of the results of the item whose turn it is, and the rail that they are from.
    current: deque[Any]
    feeding: _OrderedInput | None
    #: A rail has failed.
    failed: bool
    told: Exception | None

    def __init__(
        self,
        down: Subscriber[T],
        _described: Pipeline[T],
        rail: Pipeline[Any],
        all_lists: bool,
        in_parts: bool,
        prefetch: int,
        delay_error: bool,
    ) -> None:
        super().__init__(down)
        self.rail = rail
        self.all_lists = all_lists
        self.in_parts = in_parts
        self.prefetch = prefetch
        self.delay_error = delay_error
        self.order = deque()
        self.inputs = ()
        self.current = deque()
        self.feeding = None
        self.failed = False
        self.told = None

    def open(self) -> None:
        split, rails = rails_of(self.rail, self.order)
        self.inputs = inputs = [_OrderedInput(self, self.prefetch) for _ in rails]
        for entry, rail in zip(inputs, rails, strict=True):
            if self.stopped:
                return
            entry.open(rail)
            if self.stopped:
                entry.close()  # type: ignore[unreachable]  # set meanwhile
        split.connect()

    def step(self, demand: int) -> int:
        current = self.current
        while not self.stopped:
            if self.failed and not self.delay_error:
                return self.finish(self.failure())
            while current:
                if not demand or self.dirty:
                    return demand
                if demand is not UNBOUNDED:
                    demand -= 1
                self.emit(current.popleft())
            if self.feeding is not None:
                feeding, self.feeding = self.feeding, None
                feeding.took()  # its results are out
            if self.dirty:
                return demand
            ended = bool(self.inputs) and all(entry.done for entry in self.inputs)  # before the order, and that before the queue
            if not self.order:
                return self.finish(self.failure()) if ended else demand
            entry = self.inputs[self.order[0]]
            done = entry.done
            if entry.queue:
                results = entry.queue.popleft()
                if not self.in_parts or results is LAST:
                    self.order.popleft()
                self.feeding = entry
                if self.all_lists:
                    current.extend(results)
                else:
                    current.append(results)
            elif done:
                self.order.popleft()  # the rail was left before this item's turn
            else:
                return demand
        return 0

    def failure(self) -> Exception | None:
        """What the stream ends with: what failed, each once; the source's error comes by all rails."""
        errors = list({id(entry.error): entry.error for entry in self.inputs if entry.error is not None}.values())
        return composite(errors) if errors else None

    def finish(self, error: Exception | None = None) -> int:
        self.told = error  # before the other rails are cancelled
        return super().finish(error)

    def listening(self) -> Iterable[Listening]:
        return self.inputs

    def close(self) -> None:
        for entry in self.inputs:
            entry.close()
        self.current.clear()
        self.feeding = None
