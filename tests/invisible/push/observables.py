"""The sources and operators of cases with an Observable wherever a Flowable would be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from rx_ops import (
    AsyncSubject,
    BehaviorSubject,
    Completable,
    Emitter,
    Flowable,
    Maybe,
    Observable,
    PublishSubject,
    ReplaySubject,
    Single,
)
from tests.invisible.push.publishers import PUBLISHERS
from tests.recorded.building import Builder, Node
from tests.recorded.cases import Spec
from tests.recorded.operators import COMPLETABLE, FLOWABLE, MAYBE, SINGLE, handled, ordered, sequence_equal, switch_on_first
from tests.recorded.sharing import share, twice
from tests.recorded.signals import AppError
from tests.recorded.sources import SOURCES, of_sources

Make = Callable[[Node], Any]
Apply = Callable[[Any, Node], Any]

SUBJECTS: Final[Mapping[str, Callable[[], Any]]] = {
    "publish": PublishSubject,
    "behavior": BehaviorSubject,
    "replay": ReplaySubject,
    "replay1": lambda: ReplaySubject(1),
    "async": AsyncSubject,
}

#: What an Observable does not have, because it is about demand.
ABOUT_DEMAND: Final = frozenset(
    (
        *("bp_buffer", "bp_drop", "bp_latest", "via_observable", "do_on_request", "do_on_cancel", "on_backpressure_reduce"),
        *("on_backpressure_timeout", "rebatch_requests", "rails"),
    )
)


class ObservableBuilder(Builder):
    """A Flowable that a single or a maybe became goes on as an Observable."""

    def source(self, spec: Spec, item: Any = None) -> Any:
        return observable(super().source(spec, item))

    def operator(self, stream: Any, spec: Spec, item: Any = None) -> Any:
        return observable(super().operator(stream, spec, item))


def observable(stream: Any) -> Any:
    return stream.to_observable() if isinstance(stream, Flowable) else stream


def _create(at: Node) -> Observable[Any]:
    def produce(emitter: Emitter[int]) -> None:
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

    return Observable.create(produce)


def _range(at: Node) -> Observable[int]:
    start = at.number("a")
    return Observable.range(start, start + at["n"])


def _callable(at: Node) -> Observable[Any]:
    function, argument = at.function(), at.number("v")
    return Observable.from_callable(lambda: function(argument))


def _using(at: Node) -> Observable[Any]:
    def release(_resource: int) -> None:
        if at.get("throws"):
            raise AppError("release")

    return Observable.using(lambda: 1, lambda _resource: at.source("src"), release, eager=bool(at.get("eager")))


def _using_when(at: Node) -> Observable[Any]:
    return Observable.using_when(Single.just(1), lambda _resource: at.source("src"), lambda _resource: at.source("g"))


def _attempt(at: Node) -> Observable[Any]:
    left = list(at["xs"])
    return Observable.defer(lambda: at.builder.source(left.pop(0) if len(left) > 1 else left[0], at.item))


OBSERVABLE_SOURCES: Final[Mapping[str, Make]] = {
    **SOURCES,
    **PUBLISHERS,
    "empty": lambda at: Observable.empty(),
    "never": lambda at: Observable.never(),
    "error": lambda at: Observable.error(AppError(at["e"])),
    "just": lambda at: Observable.just(at.number("v")),
    "array": lambda at: Observable.of(*at.numbers()),
    "iter": lambda at: Observable.from_iterable(at.iterable(at.spec, at.item)),
    "range": _range,
    "callable": _callable,
    "create": _create,
    "using": _using,
    "using_when": _using_when,
    "attempt": _attempt,
    "timer": lambda at: Observable.timer(at.seconds(), scheduler=at.clock),
    "interval_range": lambda at: Observable.interval_range(
        at.number("a"), at["n"], at.seconds("period"), initial=at.seconds("first"), scheduler=at.clock
    ),
    "interval": lambda at: Observable.interval(at.seconds("period"), initial=at.seconds("first"), scheduler=at.clock),
    **of_sources(Observable),
}


def _concat_map(method: str) -> Apply:
    def make(stream: Any, at: Node) -> Any:
        options: dict[str, Any] = {"delay_error": True, "till_the_end": at["de"] == "end"} if "de" in at else {}
        if "maxc" in at:
            options["max_concurrency"] = at["maxc"]
        return getattr(stream, method)(at.selector(), **options)

    return make


def _to_observable(stream: Any, _at: Node) -> Any:
    return stream.to_observable()


_FLOWABLE: Final[Mapping[str, Apply]] = FLOWABLE
_SINGLE: Final[Mapping[str, Apply]] = SINGLE
_MAYBE: Final[Mapping[str, Apply]] = MAYBE
_COMPLETABLE: Final[Mapping[str, Apply]] = COMPLETABLE

_OBSERVABLE: Final[Mapping[str, Apply]] = {
    **{name: make for name, make in _FLOWABLE.items() if name not in ABOUT_DEMAND},
    "do_on_lifecycle": _SINGLE["do_on_lifecycle"],
    "retry_when": handled("retry_when", Observable),
    "repeat_when": handled("repeat_when", Observable),
    "sequence_equal": sequence_equal(Observable),
    "concat_map": _concat_map("concat_map"),
    "concat_map_s": _concat_map("concat_map"),
    "concat_map_m": _concat_map("concat_map"),
    "concat_map_c": _concat_map("concat_map_completable"),
    "concat_map_eager": _concat_map("concat_map_eager"),
    "concat_de": lambda stream, at: Observable.concat(stream, *at.sources(), delay_error=True),
    "concat_eager": lambda stream, at: Observable.concat_eager(stream, *at.sources()),
    "concat_eager_de": lambda stream, at: Observable.concat_eager(stream, *at.sources(), delay_error=True),
    "merge_de": lambda stream, at: Observable.merge(stream, *at.sources(), delay_error=True),
    "zip": lambda stream, at: Observable.zip(stream, *at.sources(), combiner=at.combiner()),
    "zip_de": lambda stream, at: Observable.zip(stream, *at.sources(), combiner=at.combiner(), delay_error=True),
    "zip_latest": lambda stream, at: Observable.zip_latest(stream, *at.sources(), combiner=at.combiner()),
    "fork_join": lambda stream, at: Observable.fork_join(stream, *at.sources(), combiner=at.combiner()),
    "switch_on_first": switch_on_first(Observable),
    "merge_ordered": ordered("merge_ordered", Observable),
    "merge_priority": ordered("merge_priority", Observable),
    "combine_latest": lambda stream, at: Observable.combine_latest(stream, *at.sources(), combiner=at.combiner()),
    "combine_latest_de": lambda stream, at: Observable.combine_latest(
        stream, *at.sources(), combiner=at.combiner(), delay_error=True
    ),
    "observe_on": lambda stream, at: stream.observe_on(at.clock, delay_error=bool(at.get("de"))),
    "twice": lambda stream, at: twice(share(stream, at), at, Observable),
    "publish_sel": lambda stream, at: stream.publish(lambda shared: twice(shared, at, Observable)),
    "replay_sel": lambda stream, at: stream.replay(selector=lambda shared: twice(shared, at, Observable)),
}

_ONE: Final[Mapping[str, Apply]] = {
    "flat_map_publisher": lambda stream, at: stream.flat_map_observable(at.selector()),
    "to_flowable": _to_observable,
}

OBSERVABLE_OPERATORS: Final[Mapping[type, Mapping[str, Apply]]] = {
    Observable: _OBSERVABLE,
    Single: {**_SINGLE, **_ONE},
    Maybe: {**_MAYBE, **_ONE},
    Completable: {**_COMPLETABLE, **_ONE},
}
