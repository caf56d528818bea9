"""A function of a stage cancels: its own item is given all the same, and nothing behind it (RS 2.8), however the stages run.

RxJava gives it as well: none of its operators asks between two stages whether it was cancelled. A callback whose handle was
disposed gets nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import pytest

from rx_core import Disposable
from rx_fusion import fusion_off
from rx_ops import Flowable, PublishProcessor
from rx_testing import ManualPublisher, ManualSubscription, TestSubscriber

Flow = Flowable[int]
Cancelling = Callable[[int], int]

#: What the function is in: each gives the first of three items.
CHAINS: dict[str, Callable[[Flow, Cancelling], Flow]] = {
    "map": lambda s, f: s.map(f),
    "map, take(1)": lambda s, f: s.map(f).take(1),
    "map, take(2)": lambda s, f: s.map(f).take(2),
    "take(1), map": lambda s, f: s.take(1).map(f),
    "take(2), map": lambda s, f: s.take(2).map(f),
    "take_while, map": lambda s, f: s.take_while(lambda n: n < 3).map(f),
    "take_until, map": lambda s, f: s.take_until(predicate=lambda n: n == 1).map(f),
    "filter, map, take(1)": lambda s, f: s.filter(lambda n: True).map(f).take(1),
    "do_on_next, map": lambda s, f: s.do_on_next(lambda n: None).map(f),
    "take(1), hide, map": lambda s, f: s.take(1).hide().map(f),
}
SOURCES: dict[str, Callable[[], Flow]] = {
    "pulled": lambda: Flowable.of(1, 2, 3),
    "one that pushes": lambda: Flowable.of(1, 2, 3).hide(),
    "merged": lambda: Flowable.of(1, 2, 3).merge_with(Flowable.never()),
    "foreign": lambda: Flowable.wrap(ManualPublisher(on_request=_send)),
}


def _send(subscription: ManualSubscription[int], n: int) -> None:
    for _ in range(min(n, 3 - subscription.sent)):
        if not subscription.cancelled:
            subscription.next(subscription.sent + 1)


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "unfused"])
@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_the_item_of_a_function_that_cancels_is_given(
    chain: Callable[[Flow, Cancelling], Flow], make: Callable[[], Flow], fused: bool
) -> None:
    subscriber = TestSubscriber[int](request=9)

    def cancelling(n: int) -> int:
        subscriber.cancel()
        return n

    with nullcontext() if fused else fusion_off():
        chain(make(), cancelling).subscribe(subscriber)

    assert subscriber.values == [1]
    subscriber.assert_not_complete()


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "unfused"])
@pytest.mark.parametrize("foreign", [True, False], ids=["foreign", "one of ours"])
@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_a_callback_whose_handle_is_disposed_gets_nothing_more(
    chain: Callable[[Flow, Cancelling], Flow], foreign: bool, fused: bool
) -> None:
    subject = PublishProcessor[int]()
    publisher = ManualPublisher[int]()
    got: list[int] = []
    handles: list[Disposable] = []

    def disposing(n: int) -> int:
        handles[0].dispose()
        return n

    with nullcontext() if fused else fusion_off():
        handles.append(chain(Flowable.wrap(publisher) if foreign else subject, disposing).subscribe(got.append))
        if foreign:
            publisher.next(1)
        else:
            subject.on_next(1)

    assert got == []
