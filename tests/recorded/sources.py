"""The sources of recorded pipelines: one line each, and a function where a line is not enough."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from rx_ops import BackpressureStrategy, Completable, Emitter, Flowable, GenerateEmitter, Maybe, Single
from tests.recorded.building import Flow, MakeSource, Node, Stream
from tests.recorded.signals import AppError, as_number


def _range(at: Node) -> Flow:
    start = at.number("a")
    return Flowable.range(start, start + at["n"])


def _callable(kind: type[Flowable[Any] | Single[Any]]) -> MakeSource:
    def make(at: Node) -> Stream:
        function, argument = at.function(), at.number("v")
        return kind.from_callable(lambda: function(argument))

    return make


def _pick(at: Node) -> Any:
    """One source or another, by the item it is made for."""
    choices = at["xs"]
    return at.builder.source(choices[as_number(at.item) % len(choices)], at.item)


def _attempt(at: Node) -> Flow:
    """The first source for the first subscriber, the second for the second; the last one for all that come after."""
    left = list(at["xs"])
    return Flowable.defer(lambda: at.builder.source(left.pop(0) if len(left) > 1 else left[0], at.item))


def _defer_that_fails(_at: Node) -> Flow:
    def supply() -> Flow:
        raise AppError("defer")

    return Flowable.defer(supply)


def _failing(_at: Node) -> Stream:
    raise AppError("sel")


def _generate(at: Node) -> Flow:
    """So many items; ``end`` says how it ends, and whether in the same step as the last item."""
    count, end = at["n"], at["end"]

    def step(state: int, emitter: GenerateEmitter[int]) -> int:
        if state < count:
            emitter.on_next(state)
            if end == "last" and state == count - 1:
                emitter.on_complete()
        elif end == "error":
            emitter.on_error(AppError("gen"))
        elif end == "throw":
            raise AppError("gen")
        else:
            emitter.on_complete()
        return state + 1

    return Flowable.generate(lambda: 0, step, dispose=lambda _state: None)


def _create(at: Node) -> Flow:
    """A producer that heeds neither demand nor cancellation: it sends some items at once and some later, whatever happens."""

    def produce(emitter: Emitter[int]) -> None:
        emitter.set_cancellable(lambda: None)
        worker = at.clock.create_worker()

        def send(kind: str, value: Any = None) -> None:
            if kind == "n":
                emitter.on_next(value)
            elif kind == "e":
                emitter.try_on_error(AppError(value))
            else:
                emitter.on_complete()

        for kind, *value in at["script"]:
            if len(value) == 2:
                worker.schedule(partial(send, kind, value[0]), value[1] / 1000)
            else:
                send(kind, *value)
        if at.get("throws"):
            raise AppError("create")

    return Flowable.create(produce, BackpressureStrategy[at["strategy"]])


def _using(at: Node) -> Flow:
    def release(_resource: int) -> None:
        if at.get("throws"):
            raise AppError("release")

    return Flowable.using(lambda: 1, lambda _resource: at.source("src"), release, eager=bool(at.get("eager")))


def _using_when(at: Node) -> Flowable[Any]:
    return Flowable.using_when(Single.just(1), lambda _resource: at.source("src"), lambda _resource: at.source("g"))


def _timer_with_item(kind: Any) -> MakeSource:
    """Of a type that RxJava's recording gives an item of the pipeline."""

    def make(at: Node) -> Any:
        item = 1 if at.item is None else as_number(at.item)
        return kind.timer(at.seconds(), scheduler=at.clock).map(lambda _tick: item)

    return make


def of_sources(face: Any) -> dict[str, Any]:
    """What begins with several sources, of Flowable or Observable."""
    return {
        "concat": lambda at: face.concat(*at.sources()),
        "concat_de": lambda at: face.concat(*at.sources(), delay_error=True),
        "concat_eager": lambda at: face.concat_eager(*at.sources()),
        "concat_eager_de": lambda at: face.concat_eager(*at.sources(), delay_error=True),
        "merge": lambda at: face.merge(*at.sources()),
        "merge_de": lambda at: face.merge(*at.sources(), delay_error=True),
        "amb": lambda at: face.amb(*at.sources()),
        "first_value": lambda at: face.first_with_value(*at.sources()),
        "zip": lambda at: face.zip(*at.sources(), combiner=at.combiner()),
        "zip_de": lambda at: face.zip(*at.sources(), combiner=at.combiner(), delay_error=True),
        "combine": lambda at: face.combine_latest(*at.sources(), combiner=at.combiner()),
        "combine_de": lambda at: face.combine_latest(*at.sources(), combiner=at.combiner(), delay_error=True),
    }


SOURCES: Final[dict[str, MakeSource]] = {
    "hot": lambda at: at.builder.hot[at["id"]],
    "pipe": lambda at: at.builder.pipeline(at["src"], at["ops"], at.item),
    "pick": _pick,
    "fail": _failing,
    # Flowable
    "empty": lambda at: Flowable.empty(),
    "never": lambda at: Flowable.never(),
    "error": lambda at: Flowable.error(AppError(at["e"])),
    "just": lambda at: Flowable.just(at.number("v")),
    "array": lambda at: Flowable.of(*at.numbers()),
    "iter": lambda at: Flowable.from_iterable(at.iterable(at.spec, at.item)),
    "range": _range,
    "callable": _callable(Flowable),
    "generate": _generate,
    "create": _create,
    "using": _using,
    "using_when": _using_when,
    "attempt": _attempt,
    "defer_throw": _defer_that_fails,
    "timer": lambda at: Flowable.timer(at.seconds(), scheduler=at.clock),
    "interval_range": lambda at: Flowable.interval_range(
        at.number("a"), at["n"], at.seconds("period"), initial=at.seconds("first"), scheduler=at.clock
    ),
    "interval": lambda at: Flowable.interval(at.seconds("period"), initial=at.seconds("first"), scheduler=at.clock),
    **of_sources(Flowable),
    # Single
    "s_never": lambda at: Single.never(),
    "s_error": lambda at: Single.error(AppError(at["e"])),
    "s_just": lambda at: Single.just(at.number("v")),
    "s_callable": _callable(Single),
    "s_timer": _timer_with_item(Single),
    # Maybe
    "m_empty": lambda at: Maybe.empty(),
    "m_never": lambda at: Maybe.never(),
    "m_error": lambda at: Maybe.error(AppError(at["e"])),
    "m_just": lambda at: Maybe.just(at.number("v")),
    "m_timer": _timer_with_item(Maybe),
    # Completable
    "c_complete": lambda at: Completable.complete(),
    "c_never": lambda at: Completable.never(),
    "c_error": lambda at: Completable.error(AppError(at["e"])),
    "c_action": lambda at: Completable.from_action(at.action()),
    "c_timer": lambda at: Completable.timer(at.seconds(), scheduler=at.clock),
}
