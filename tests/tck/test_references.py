"""§3.13 beyond the one subscriber of the TCK: what is left when runs are dropped instead of cancelled, or repeated."""

from __future__ import annotations

import gc
import traceback
import weakref
from typing import Any

import pytest

from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber
from tests.conformance.harness import dropped_errors


class Bare:
    """A subscriber that takes everything."""

    def on_subscribe(self, subscription: Any, /) -> None:
        subscription.request(10)

    def on_next(self, item: Any, /) -> None: ...

    def on_error(self, error: Exception, /) -> None: ...

    def on_complete(self) -> None: ...


HANDLED: dict[str, Any] = {
    "signalled": lambda s: s,
    "mapped": lambda s: s.map(lambda x: x),
    "hidden": lambda s: s.map(lambda x: x).hide(),
    "concat": lambda s: Flowable.concat(Flowable.of(1), s),
    "merge": lambda s: s.merge_with(Flowable.never()),
    "merge late": lambda s: Flowable.merge(s, Flowable.of(1), delay_error=True),
    "flat_map": lambda s: Flowable.of(1).flat_map(lambda _x: s),
    "merge hidden": lambda s: s.hide().merge_with(Flowable.never()),
    "zip hidden": lambda s: s.hide().zip_with(Flowable.never()),
    "retry": lambda s: s.hide().retry(3),
    "do_on_error": lambda s: s.do_on_error(lambda e: None),
    "resumed": lambda s: s.map(lambda x: x).hide().on_error_resume_next(lambda e: Flowable.empty()),
}


@pytest.mark.parametrize("build", HANDLED.values(), ids=list(HANDLED))
@pytest.mark.parametrize(
    "error", [pytest.param(ValueError, id="made for each run"), pytest.param(ValueError("one for all"), id="an object")]
)
def test_a_source_that_fails_forgets_its_subscriber(error: Any, build: Any) -> None:
    flow = build(Flowable.error(error))
    subscriber = Bare()
    reference = weakref.ref(subscriber)
    flow.subscribe(subscriber)
    del subscriber
    gc.collect()
    assert reference() is None


def test_an_error_keeps_the_traceback_that_it_had() -> None:
    def fails(_x: int) -> int:
        raise OSError("mine")

    errors: list[Exception] = []
    Flowable.of(1).map(fails).hide().merge_with(Flowable.never()).subscribe(print, on_error=errors.append)
    names = [frame.name for frame in traceback.extract_tb(errors[0].__traceback__)]
    assert "fails" in names
    with pytest.raises(OSError, match="mine") as caught:
        Flowable.error(errors[0]).map(str).blocking_list()
    assert caught.value is errors[0]
    assert "fails" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]


@pytest.mark.parametrize(
    "name",
    [
        "map",
        "flat_map",
        "concat_map",
        "merge",
        "zip",
        "group_by",
    ],
)
def test_a_run_that_nobody_holds_any_more_goes_quietly(name: str) -> None:
    build: dict[str, Any] = {
        "map": lambda s: s.map(lambda x: x),
        "flat_map": lambda s: s.flat_map(lambda x: Flowable.just(x)),
        "concat_map": lambda s: s.concat_map(lambda x: Flowable.just(x)),
        "merge": lambda s: s.merge_with(Flowable.never()),
        "zip": lambda s: s.zip_with(Flowable.range(9), lambda a, b: a + b),
        "group_by": lambda s: s.group_by(lambda x: x % 3).flat_map(lambda group: group),
    }
    with dropped_errors() as errors:
        source = ManualPublisher[int]()
        subscriber = TestSubscriber[int](request=2)
        build[name](Flowable.wrap(source)).subscribe(subscriber)
        source.next(1, 2)
        subscriber.assert_values(*([1, 3] if name == "zip" else [1, 2]))
        del source, subscriber
        gc.collect()
    assert not errors
