"""From a description to a stream: what the tables of sources and operators are given to build with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rx_ops import Completable, Flowable, Maybe, Single
from rx_testing import VirtualScheduler
from tests.recorded import functions
from tests.recorded.cases import Spec
from tests.recorded.functions import FailingIterable, Fault
from tests.recorded.signals import as_number

Flow = Flowable[Any]
Stream = Flow | Single[Any] | Maybe[Any] | Completable

MakeSource = Callable[["Node"], Stream]
#: An operator is looked up by the kind of stream it is called on; the lines of a table expect that kind.
MakeOperator = Callable[[Any, "Node"], Stream]


@dataclass(frozen=True, slots=True)
class Builder:
    """What the sources and operators of one pipeline share, and the tables that make them."""

    clock: VirtualScheduler
    hot: Mapping[str, Flow]
    sources: Mapping[str, MakeSource]
    operators: Mapping[type, Mapping[str, MakeOperator]]

    def source(self, spec: Spec, item: Any = None) -> Any:
        """The source described by ``spec``; ``item`` is what the selector was called with that makes it.

        Of which kind of stream it is, the spec says; the recording program saw to it that the kind fits its place.
        """
        made = self.sources[spec["s"]](Node(self, spec, item))
        if "probe" in spec and isinstance(made, Flowable):
            return Flowable.wrap(Foreign(made))
        return made

    def operator(self, stream: Stream, spec: Spec, item: Any = None) -> Stream:
        for kind, table in self.operators.items():
            if isinstance(stream, kind):
                return table[spec["o"]](stream, Node(self, spec, item))
        raise TypeError(f"a recorded pipeline has no {type(stream).__name__}")

    def pipeline(self, source: Spec, operators: Iterable[Spec], item: Any = None) -> Stream:
        stream: Stream = self.source(source, item)
        for spec in operators:
            stream = self.operator(stream, spec, item)
        return stream


@dataclass(frozen=True, slots=True)
class Node:
    """One source or operator that is being made: its spec, and everything a spec can name, built."""

    builder: Builder
    spec: Spec
    item: Any

    def __getitem__(self, key: str) -> Any:
        return self.spec[key]

    def __contains__(self, key: str) -> bool:
        return key in self.spec

    def get(self, key: str, default: Any = None) -> Any:
        return self.spec.get(key, default)

    def present(self, key: str) -> list[Any]:
        """The argument, if the spec has it: for operators that can do without."""
        return [self.spec[key]] if key in self.spec else []

    @property
    def clock(self) -> VirtualScheduler:
        return self.builder.clock

    # numbers

    def number(self, key: str) -> int:
        return functions.number(self.spec[key], self.item)

    def numbers(self, key: str = "v") -> list[int]:
        return [functions.number(each, self.item) for each in self.spec[key]]

    def seconds(self, key: str = "ms") -> float:
        return self.number(key) / 1000

    # functions

    def function(self, key: str = "f") -> Callable[[Any], Any]:
        return functions.function(self.spec[key])

    def functions(self, *keys: str) -> list[Callable[[Any], Any]]:
        """Those of the functions that the spec has: for operators that take one or two."""
        return [self.function(key) for key in keys if key in self.spec]

    def predicate(self, key: str = "p") -> Callable[[Any], bool]:
        return functions.predicate(self.spec[key])

    def reducer(self) -> Callable[[Any, Any], Any]:
        return functions.reducer(self.spec["f"])

    def combiner(self) -> Callable[..., Any]:
        return functions.combiner(self.spec["f"])

    def action(self) -> Callable[..., None]:
        return functions.action(self.spec)

    def consumer(self) -> Callable[[Any], None]:
        return functions.consumer(self.spec)

    def fault(self) -> Fault:
        return Fault(self.spec)

    # sources

    def source(self, key: str = "g") -> Any:
        return self.builder.source(self.spec[key], self.item)

    def sources(self) -> list[Any]:
        return [self.builder.source(spec, self.item) for spec in self.spec["xs"]]

    def selector(self, key: str = "g") -> Callable[[Any], Any]:
        """A function that makes a source for each item; its faults are those of the operator."""
        fault = self.fault()

        def select(item: Any) -> Stream | None:
            return None if fault.strikes(as_number(item)) else self.builder.source(self.spec[key], item)

        return select

    def iterable(self, spec: Spec, item: Any) -> Iterable[int]:
        items = [functions.number(each, item) for each in spec["v"]]
        return FailingIterable(items, spec["at"]) if 0 <= spec.get("at", -1) <= len(items) else items


class Foreign:
    """A publisher of another library: nothing can be seen of the stream it passes on but the protocol."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow

    def subscribe(self, subscriber: Any, /) -> None:
        self.flow.subscribe(_ForeignSubscriber(subscriber))


class _ForeignSubscriber:
    def __init__(self, downstream: Any) -> None:
        self.downstream = downstream

    def on_subscribe(self, subscription: Any, /) -> None:
        self.downstream.on_subscribe(_ForeignSubscription(subscription))

    def on_next(self, item: Any, /) -> None:
        self.downstream.on_next(item)

    def on_error(self, error: Exception, /) -> None:
        self.downstream.on_error(error)

    def on_complete(self) -> None:
        self.downstream.on_complete()


class _ForeignSubscription:
    def __init__(self, upstream: Any) -> None:
        self.upstream = upstream

    def request(self, n: int, /) -> None:
        self.upstream.request(n)

    def cancel(self) -> None:
        self.upstream.cancel()
