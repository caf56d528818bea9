"""The TCK over streams on threads of real schedulers, and over what crosses from one thread to another."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import pytest

from rx_core import Scheduler, Subscriber
from rx_ops import BackpressureStrategy, Emitter, Flowable
from rx_schedulers import computation, io, new_thread, single
from tests.tck import cases
from tests.tck.cases import Case, Flow, run

Make = Callable[[], Scheduler]


def _observed(make: Make, **options: Any) -> Callable[[Any, int], Flow]:
    return lambda s, n: s(n).observe_on(make(), **options)


def _threaded(n: int) -> Flow:
    """Pushed from a thread of its own."""

    def source(emitter: Emitter[int]) -> None:
        def push() -> None:
            for item in range(n):
                emitter.on_next(item)
            emitter.on_complete()

        threading.Thread(target=push, daemon=True).start()

    return Flowable.create(source, BackpressureStrategy.BUFFER)


# fmt: off
THREADS: Final = (
    Case("observe_on computation", _observed(computation)),
    Case("observe_on narrow", _observed(io, prefetch=1)),
    Case("observe_on late errors", _observed(single, delay_error=True)),
    Case("observe_on twice", lambda s, n: s(n).observe_on(computation()).map(lambda x: x + 1).observe_on(io())),
    Case("subscribe_on", lambda s, n: s(n).subscribe_on(new_thread())),
    Case("subscribe_on and observe_on", lambda s, n: s(n).subscribe_on(io()).observe_on(computation())),
    Case("merge of threads", lambda s, n: Flowable.merge(s(n // 2).subscribe_on(io()), s(n - n // 2).subscribe_on(io()))),
    Case("zip of threads", lambda s, n: s(n).observe_on(io()).zip_with(s(n).observe_on(io()), lambda a, b: a + b)),
    Case("concat_map of threads", lambda s, n: s(n).concat_map(lambda x: Flowable.just(x).subscribe_on(computation()))),
    Case("pushed from a thread", lambda s, n: _threaded(n), fails=False),
    Case("merged with a push", lambda s, n: s(0).merge_with(_threaded(n)), fails=False),
)
# fmt: on

#: Streams whose elements depend on which thread was faster: the same for all subscribers they are not.
UNORDERED: Final = ("merge of threads",)


@pytest.mark.parametrize("source", ["fused", "foreign"])
@pytest.mark.parametrize("case", THREADS, ids=str)
def test_on_threads(case: Case, source: str) -> None:
    result = run(case, getattr(cases, source), synchronous=False, multicast=case.name not in UNORDERED)
    result.assert_passed()


class _Twice:
    """A hand-written operator that breaks §1.3 on purpose: requests come from threads, and it does not queue."""

    def __init__(self, down: Subscriber[Any]) -> None:
        self.down = down
        self.up: Any = None

    def on_subscribe(self, subscription: Any, /) -> None:
        self.up = subscription
        self.down.on_subscribe(self)

    def request(self, n: int, /) -> None:
        self.up.request(n)
        threading.Thread(target=lambda: self.up.request(0 * n + 1), daemon=True).start()

    def cancel(self) -> None:
        self.up.cancel()

    def on_next(self, item: Any, /) -> None:
        threading.Thread(target=self.down.on_next, args=(item,), daemon=True).start()

    def on_error(self, error: Exception, /) -> None:
        self.down.on_error(error)

    def on_complete(self) -> None:
        self.down.on_complete()


def test_the_control_a_stream_that_is_not_serial_is_found() -> None:
    result = run(Case("control", lambda s, n: s(n).lift(_Twice), fails=False), cases.fused, synchronous=False, seconds=0.1)
    assert "test_stochastic_spec103_must_signal_on_methods_sequentially" in result.failed
