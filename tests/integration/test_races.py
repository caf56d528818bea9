"""Many threads at once, beyond the eight that feed one operator (`test_eight_threads`): operators that cut, deal out and pair
what they get, requests and cancellation from elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import rx_core
import rx_ops
import rx_schedulers
from rx_core import UNBOUNDED
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber
from rx_testing.racing import caught, race, rounds
from tests.integration.unserialized import without_tokens

pytestmark = pytest.mark.stress

WATCHED = (str(Path(rx_core.__file__).parent), str(Path(rx_ops.__file__).parent))


# -- threads that stumble ----------------------------------------------------------------------------------------------------

SENDERS = 4
SENT = 12

Sources = list[ManualPublisher[Any]]
Build = Callable[[Sources], Flowable[Any]]

#: Ends in a stage that gives many items for one and does not know which is its last: completes with the request after it.
EXPANDING = "buffer, flat_map_iterable"

#: What gives each item once, whatever it does with it meanwhile.
EVERY_ITEM: dict[str, Build] = {
    "group_by, flat_map": lambda sources: Flowable.merge(*sources).group_by(_kind).flat_map(lambda group: group),
    "window, concat_map": lambda sources: Flowable.merge(*sources).window(5).concat_map(lambda window: window),
    EXPANDING: lambda sources: Flowable.merge(*sources).buffer(5).flat_map_iterable(list),
    "share": lambda sources: Flowable.merge(*sources).share(),
    "replay": lambda sources: Flowable.merge(*sources).replay().ref_count(),
}


def _kind(item: tuple[int, int]) -> int:
    return item[1] % 3


def _zip(sources: Sources) -> Flowable[Any]:
    return Flowable.zip(*sources)


def _send(source: ManualPublisher[Any], number: int) -> Callable[[], None]:
    def work() -> None:
        for at in range(SENT):
            source.next((number, at))
        source.complete()

    return work


def _run(build: Build, asked: int, count: int, patience: float = 20.0) -> list[Any]:
    """The items that come, ``count`` of them, when four threads send and, if ``asked``, another one requests so many."""
    sources: Sources = [ManualPublisher() for _ in range(SENDERS)]
    got = TestSubscriber[Any](0 if asked else UNBOUNDED)
    build(sources).subscribe(got)
    workers: list[Callable[[], object]] = [_send(source, number) for number, source in enumerate(sources)]
    if asked:
        got.request(1)  # so that everything is subscribed when the senders begin
        workers.append(lambda: [got.request(1) for _ in range(asked - 1)])
    race(*workers, watch=WATCHED, seconds=1.5 * patience)
    got.await_terminal(patience).assert_complete().assert_value_count(count)
    return got.values


ASKED = pytest.mark.parametrize("asked", [False, True], ids=["unbounded", "requests from another thread"])
EVERYTHING = [(number, at) for number in range(SENDERS) for at in range(SENT)]


@ASKED
@pytest.mark.parametrize("name", EVERY_ITEM)
def test_every_item_of_stumbling_threads_arrives_once(name: str, asked: bool) -> None:
    count = len(EVERYTHING)
    requests = (count + (name == EXPANDING)) * asked  # otherwise as many as there are: the end needs none
    for _ in rounds(6):
        assert sorted(_run(EVERY_ITEM[name], requests, count)) == EVERYTHING


@ASKED
def test_the_items_of_stumbling_threads_are_paired_in_order(asked: bool) -> None:
    for _ in rounds(6):
        rows = _run(_zip, SENT if asked else 0, SENT)
        assert rows == [tuple((number, at) for number in range(SENDERS)) for at in range(SENT)]


@pytest.mark.parametrize("build", [*EVERY_ITEM.values(), _zip], ids=[*EVERY_ITEM, "zip"])
def test_control_without_a_token_they_are_caught(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_number: int) -> None:
        with without_tokens(monkeypatch):
            _run(build, 0, SENT if build is _zip else len(EVERYTHING), patience=0.4)

    assert caught(broken, 300)


# -- requests, cancellation, groups ------------------------------------------------------------------------------------------

THREADS = 6
EACH = 400


def test_requests_from_many_threads_are_all_counted() -> None:
    for _ in rounds(5):
        got: TestSubscriber[int] = TestSubscriber(request=0)
        Flowable.range(100_000).map(lambda x: x).subscribe(got)
        race(*[partial(_ask, got)] * THREADS)
        got.assert_value_sequence(range(THREADS * EACH)).assert_not_terminated()


def _ask(got: TestSubscriber[int]) -> None:
    for _ in range(EACH):
        got.request(1)


def test_cancel_against_elements_leaves_nothing_running() -> None:
    for _ in rounds(50):
        source: ManualPublisher[int] = ManualPublisher()
        got: TestSubscriber[int] = TestSubscriber()
        Flowable.wrap(source).merge_with(Flowable.never()).subscribe(got)
        race(partial(source.next, *range(20)), got.cancel)
        got.assert_not_terminated()
        assert source.cancelled
        assert got.values == list(range(len(got.values)))


@pytest.mark.parametrize("demand", ["unbounded", "one by one"])
def test_groups_on_many_threads_give_every_element(demand: str, no_leaks: None) -> None:
    scheduler = rx_schedulers.computation()

    def observed(group: Any) -> Flowable[Any]:
        return Flowable.wrap(group).observe_on(scheduler, prefetch=8).map(lambda x: (group.key, x))

    for _ in rounds(5):
        got: TestSubscriber[Any]
        got = TestSubscriber() if demand == "unbounded" else TestSubscriber(request=1, request_in_on_next=1)
        Flowable.range(1_000).group_by(lambda x: x % 5).flat_map(observed).subscribe(got)
        got.await_terminal(20).assert_complete()
        assert sorted(x for _, x in got.values) == list(range(1_000))
        for key in range(5):
            assert [x for each, x in got.values if each == key] == list(range(key, 1_000, 5))
