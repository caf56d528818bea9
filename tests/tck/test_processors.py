"""The TCK over the processors: as publishers, and as the processors they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from rx_ops.processors import AsyncProcessor, BehaviorProcessor, PublishProcessor, ReplayProcessor, UnicastProcessor
from rx_testing import IdentityProcessorVerification, PublisherVerification, TestSubscriber
from rx_testing.tck import verify


class Publishers(PublisherVerification[int]):
    default_timeout = 5.0
    synchronous = True


def _fed(processor: Any, elements: int) -> Any:
    for number in range(elements):
        processor.on_next(number)
    processor.on_complete()
    return processor


def _failed(processor: Any) -> Any:
    processor.on_error(RuntimeError("failed"))
    return processor


class TestReplay(Publishers):
    def create_publisher(self, elements: int, /) -> Any:
        return _fed(ReplayProcessor[int](), elements)

    def create_failed_publisher(self) -> Any:
        return _failed(ReplayProcessor[int]())


class TestReplaySerialized(Publishers):
    def create_publisher(self, elements: int, /) -> Any:
        return _fed(ReplayProcessor[int]().to_serialized(), elements)

    def create_failed_publisher(self) -> Any:
        return _failed(ReplayProcessor[int]().to_serialized())


class TestUnicast(Publishers):
    multi_subscribe = False

    def create_publisher(self, elements: int, /) -> Any:
        return _fed(UnicastProcessor[int](), elements)

    def create_failed_publisher(self) -> Any:
        return _failed(UnicastProcessor[int]())


class TestAsync(Publishers):
    max_elements_from_publisher = 1

    def create_publisher(self, elements: int, /) -> Any:
        return _fed(AsyncProcessor[int](), elements)

    def create_failed_publisher(self) -> Any:
        return _failed(AsyncProcessor[int]())


class Offered(Publishers):
    """Hot ones: an element is offered when all who listen can take it."""

    def make(self) -> Any:
        return PublishProcessor[int]()

    def create_publisher(self, elements: int, /) -> Any:
        processor, left = self.make(), iter(range(elements))
        upcoming = next(left, None)

        def feed() -> bool:
            nonlocal upcoming
            if upcoming is None:
                if processor.has_complete:
                    return False
                processor.on_complete()
                return True
            if not processor.has_subscribers or not processor.offer(upcoming):
                return False
            upcoming = next(left, None)
            return True

        if upcoming is None:
            processor.on_complete()
        self.__dict__["feed"] = feed
        return processor

    def create_failed_publisher(self) -> Any:
        return _failed(self.make())

    def settle(self) -> bool:
        feed: Callable[[], bool] | None = self.__dict__.get("feed")
        return feed is not None and feed()


class TestPublish(Offered): ...


class TestBehavior(Offered):
    def make(self) -> Any:
        return BehaviorProcessor[int]()


# -- as processors -----------------------------------------------------------------------------------------------------

MAKE: Final[dict[str, Callable[[], Any]]] = {
    "replay": ReplayProcessor,
    "replay serialized": lambda: ReplayProcessor[int]().to_serialized(),
    "unicast": UnicastProcessor,
}


def failures(name: str) -> set[str]:
    class Verification(IdentityProcessorVerification[int]):
        synchronous = True
        max_supported_subscribers = 1 if name == "unicast" else 100
        multi_subscribe = name != "unicast"

        def create_identity_processor(self, buffer_size: int, /) -> Any:
            return MAKE[name]()

        def create_element(self, index: int, /) -> int:
            return index

    return set(verify(Verification).failed)


@pytest.mark.parametrize("name", MAKE)
def test_processor(name: str) -> None:
    assert not failures(name)


@pytest.mark.parametrize("signal", ["on_next", "on_error"])
@pytest.mark.parametrize("name", MAKE)
def test_none_from_a_stream_ends_a_processor_and_by_hand_it_does_not(name: str, signal: str) -> None:
    by_hand, fed = MAKE[name](), MAKE[name]()
    upstream = Upstream()
    fed.on_subscribe(upstream)
    for processor in (by_hand, fed):
        with pytest.raises(TypeError):
            getattr(processor, signal)(None)
    by_hand.on_next(1)
    by_hand.on_complete()
    got, ended = TestSubscriber[int](), TestSubscriber[int]()
    by_hand.subscribe(got)
    fed.subscribe(ended)
    got.assert_result(1)
    ended.assert_failure(TypeError)
    assert upstream.cancelled


class Upstream:
    def __init__(self) -> None:
        self.cancelled = False

    def request(self, n: int, /) -> None: ...

    def cancel(self) -> None:
        self.cancelled = True
