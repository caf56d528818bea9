"""Who comes at the very moment when the owner leaves is not forgotten.

In longer races the next call would pick up what was left behind; so here each party makes one call, and nobody comes after it.
First systematically: one call is interrupted by the others before every single instruction. Then by chance, with threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import permutations
from typing import Any

import pytest

from rx_core.blocks import (
    CANCELLED_SUBSCRIPTION,
    DeferredScalar,
    DeferredSubscription,
    HalfSerializer,
    MultiPostComplete,
    QueueDrain,
    SerializedSubscriber,
    SinglePostComplete,
    StableRequestDrain,
    SubscriptionArbiter,
)

from .racing import Probe, Upstream, interrupted, race, rounds

THREADS = 3
#: Makes the calls, and says what must have happened in the end.
Scene = tuple[list[Callable[[], object]], Callable[[], bool]]


def queue_drain(kind: type[QueueDrain[int]] = QueueDrain) -> Scene:
    got: list[int] = []
    drain = kind(got.append)
    calls: list[Callable[[], object]] = [partial(drain.offer, n) for n in range(THREADS)]
    return calls, lambda: len(got) == THREADS


def serialized() -> Scene:
    end = Probe()
    subscriber = SerializedSubscriber[object](end)
    calls: list[Callable[[], object]] = [
        partial(subscriber.on_subscribe, CANCELLED_SUBSCRIPTION),
        *[partial(subscriber.on_next, n) for n in range(2)],
    ]
    return calls, lambda: len(end.values) == 2


def serialized_end() -> Scene:
    end = Probe()
    subscriber = SerializedSubscriber[object](end)
    subscriber.on_subscribe(CANCELLED_SUBSCRIPTION)
    return [*[partial(subscriber.on_next, n) for n in range(2)], subscriber.on_complete], lambda: end.completions == 1


def half_serialized() -> Scene:
    end = Probe()
    half = HalfSerializer[object](end)
    return [partial(half.on_next, 1), half.on_complete], lambda: end.completions == 1


def deferred() -> Scene:
    upstream, subscription = Upstream(), DeferredSubscription()
    calls: list[Callable[[], object]] = [partial(subscription.request, 1) for _ in range(2)]
    return [*calls, partial(subscription.set_once, upstream)], lambda: upstream.total == 2


def arbiter() -> Scene:
    upstream, subscription = Upstream(), SubscriptionArbiter()
    calls: list[Callable[[], object]] = [partial(subscription.request, 1) for _ in range(2)]
    return [*calls, partial(subscription.set_subscription, upstream)], lambda: upstream.total == 2


def request_drain() -> Scene:
    end = Probe(request=0)
    drain = StableRequestDrain[object, object](end, 4)
    drain.on_subscribe(Upstream())
    return [partial(drain.request, 1), partial(drain.on_next, 1)], lambda: end.values == [1]


def request_drain_end() -> Scene:
    end = Probe(request=0)
    drain = StableRequestDrain[object, object](end, 4)
    drain.on_subscribe(Upstream())
    drain.on_next(1)
    return [partial(drain.request, 1), drain.on_complete, partial(drain.request, 1)], lambda: end.completions == 1


def post_complete() -> Scene:
    end = Probe(request=0)
    operator = MultiPostComplete[object, object](end)
    operator.on_subscribe(Upstream())
    calls: list[Callable[[], object]] = [partial(operator.request, 1) for _ in range(2)]
    return [*calls, partial(operator.complete, [1, 2])], lambda: end.completions == 1


def single_post_complete() -> Scene:
    end = Probe(request=0)
    operator = SinglePostComplete[object, object](end)
    operator.on_subscribe(Upstream())
    return [partial(operator.request, 1), partial(operator.complete, 1)], lambda: end.values == [1] and end.completions == 1


def scalar() -> Scene:
    end = Probe(request=0)
    answer = DeferredScalar[object](end)
    calls: list[Callable[[], object]] = [answer.start, partial(answer.complete, 1), partial(answer.request, 1)]
    return calls, lambda: end.values == [1] and end.completions == 1


SCENES = [
    queue_drain,
    serialized,
    serialized_end,
    half_serialized,
    deferred,
    arbiter,
    request_drain,
    request_drain_end,
    post_complete,
    single_post_complete,
    scalar,
]


def interrupt_everywhere(scene: Callable[[], Scene]) -> None:
    for order in permutations(range(len(scene()[0]))):
        for apart in (0, 1, 5, 20, 1_000):  # where the third comes, counted from the second
            moment, length = 0, 1
            while moment <= length:
                calls, happened = scene()
                first, *others = (calls[index] for index in order)
                length = interrupted(first, *[(moment + n * apart, other) for n, other in enumerate(others)])
                assert happened(), f"call {order} interrupted before instruction {moment} and {apart} later"
                moment += 1
            if len(order) < 3:
                break


@pytest.mark.parametrize("scene", SCENES)
def test_nobody_is_forgotten_whichever_instruction_is_interrupted(scene: Callable[[], Scene]) -> None:
    interrupt_everywhere(scene)


@pytest.mark.stress
@pytest.mark.parametrize("scene", SCENES)
def test_nobody_is_forgotten_by_chance(scene: Callable[[], Scene]) -> None:
    for _ in rounds():
        calls, happened = scene()
        race(*calls, often=0.05)
        assert happened()


class Leaving(QueueDrain[Any]):
    """The control: does not look again after giving the token back."""

    def offer(self, item: Any, /) -> None:
        self._queue.append(item)
        self.drain()

    def drain(self) -> None:
        if self._queue and self.token:
            self.token.pop()
            self.look(0)
            self.token.append(0)


def test_the_control_forgets_an_item() -> None:
    with pytest.raises(AssertionError, match="interrupted before instruction"):
        interrupt_everywhere(partial(queue_drain, Leaving))
