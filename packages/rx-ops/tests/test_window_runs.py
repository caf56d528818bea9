"""Windows that begin and end where the items say so: what they have, what is asked for them, and when the source is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ops_parties import Consumer

from rx_fusion import fusion_off
from rx_ops import Flowable, Observable
from rx_testing import ManualPublisher, TestSubscriber

Source = ManualPublisher[int]


class Failed(Exception):
    """What a source or a function fails with."""


def third(x: int) -> bool:
    return x % 3 == 0


CUT: dict[str, tuple[Callable[[Any], Any], list[list[int]]]] = {
    "until": (lambda flow: flow.window_until(third), [[0], [1, 2, 3], [4, 5, 6], [7]]),
    "until, before": (lambda flow: flow.window_until(third, cut_before=True), [[0, 1, 2], [3, 4, 5], [6, 7]]),
    "while": (lambda flow: flow.window_while(lambda x: not third(x)), [[1, 2], [4, 5], [7]]),
    "changed": (lambda flow: flow.window_until_changed(lambda x: x // 3), [[0, 1, 2], [3, 4, 5], [6, 7]]),
    "changed itself": (lambda flow: flow.window_until_changed(), [[x] for x in range(8)]),
}


@pytest.mark.parametrize("name", CUT)
@pytest.mark.parametrize("prefetch", [None, 1, 2])
@pytest.mark.parametrize("off", [False, True], ids=["fused", "off"])
def test_windows_have_what_lists_would_have(name: str, prefetch: int | None, off: bool) -> None:
    build, wanted = CUT[name]
    for source in (Flowable.range(8), Flowable.range(8).hide()):
        lists = build(source).concat_map(lambda window: window.to_list())
        if off:
            with fusion_off():
                assert lists.blocking_list() == wanted
        else:
            assert lists.blocking_list() == wanted


def test_of_an_observable_as_well() -> None:
    lists = Observable.range(8).window_until(third).concat_map(lambda window: window.to_list())
    assert lists.blocking_list() == CUT["until"][1]


def test_an_item_is_given_as_soon_as_it_comes() -> None:
    source = Source()
    windows = Consumer(Flowable.wrap(source).window_until(third))
    source.next(1)
    assert [each.values for each in windows.windows] == [[1]]
    source.next(2, 3)
    windows.windows[0].assert_result(1, 2, 3)
    assert len(windows.windows) == 1  # the next one begins with an item


def test_no_more_is_asked_for_than_windows_have_room_for() -> None:
    source = Source()
    windows = Consumer(Flowable.wrap(source).window_until(third, prefetch=4), each=0)
    assert source.requested == 4
    source.next(1, 2)
    assert source.requested == 4
    windows.windows[0].request(2)
    assert source.requested == 4  # two of four taken: not three quarters
    source.next(4, 5)
    windows.windows[0].request(1)
    assert source.requested == 7
    assert windows.windows[0].values == [1, 2, 4]


def test_a_window_that_is_not_requested_waits_with_its_items() -> None:
    source = Source()
    windows = Consumer(Flowable.wrap(source).window_until(third, prefetch=8), request=1)
    source.next(1, 3, 4, 6, 7)
    assert [each.values for each in windows.windows] == [[1, 3]]
    source.complete()
    windows.outer.assert_not_terminated()
    windows.outer.request(1)
    windows.outer.request(1)
    assert [each.values for each in windows.windows] == [[1, 3], [4, 6], [7]]
    assert [each.completions for each in windows.windows] == [1, 1, 1]
    assert windows.outer.completions == 1


def test_a_slow_reader_of_one_window_after_another_holds_a_long_source_back() -> None:
    read: list[int] = []
    got = TestSubscriber[int](request=1)
    source = Flowable.range(100_000).do_on_next(read.append).hide()
    source.window_until(lambda x: x % 10 == 9, prefetch=16).concat_map(lambda window: window).subscribe(got)
    for _ in range(50):
        got.request(1)
    assert got.values == list(range(51))
    assert len(read) <= 51 + 16 + 2
    got.cancel()


def test_an_error_goes_to_the_open_window_and_overtakes_those_that_wait() -> None:
    source = Source()
    windows = Consumer(Flowable.wrap(source).window_until(third, prefetch=8), request=1)
    source.next(1, 3, 4)
    source.error(Failed())
    windows.windows[0].assert_result(1, 3)
    windows.outer.assert_error(Failed)
    source = Source()
    windows = Consumer(Flowable.wrap(source).window_until(third))
    source.next(1)
    source.error(Failed())
    windows.windows[0].assert_failure(Failed, 1)
    windows.outer.assert_error(Failed)


@pytest.mark.parametrize("name", ["window_until", "window_while", "window_until_changed"])
def test_what_the_function_raises_ends_all_and_leaves_the_source(name: str) -> None:
    def fail(x: int) -> bool:
        if x == 2:
            raise Failed
        return name == "window_while"

    source = Source()
    windows = Consumer(getattr(Flowable.wrap(source), name)(fail))
    source.next(1, 2)
    windows.windows[0].assert_failure(Failed, 1)
    windows.outer.assert_error(Failed)
    assert name in str(windows.outer.errors[0].__notes__)
    assert source.cancelled


def test_the_source_is_left_when_the_stream_of_windows_and_the_open_one_are() -> None:
    source = Source()
    windows = Consumer(Flowable.wrap(source).window_until(third))
    source.next(1)
    windows.outer.cancel()
    assert not source.cancelled
    source.next(2)
    assert windows.windows[0].values == [1, 2]
    windows.windows[0].cancel()
    assert source.cancelled


def test_behind_a_stream_of_windows_that_is_left_the_open_one_is_the_last() -> None:
    source = Source()
    windows = Consumer(Flowable.wrap(source).window_until(third))
    source.next(1)
    windows.outer.cancel()
    source.next(3)
    windows.windows[0].assert_result(1, 3)
    assert source.cancelled


def test_a_cancel_drops_windows_that_wait() -> None:
    source = Source()
    windows = Consumer(Flowable.wrap(source).window_until(third, prefetch=8), request=1)
    source.next(3, 4, 6, 7)
    windows.outer.cancel()
    assert source.cancelled


def test_a_window_without_a_subscriber_keeps_its_first_item_and_holds_nothing_back() -> None:
    source, kept = Source(), list[Flowable[int]]()
    outer = TestSubscriber[Flowable[int]](on_value=kept.append)
    Flowable.wrap(source).window_until(third, prefetch=2).subscribe(outer)
    for item in (1, 2, 4, 5, 6, 7):
        assert source.requested > 0
        source.next(item)
    assert len(kept) == 2
    for window, first in zip(kept, (1, 7), strict=True):
        late = TestSubscriber[int]()
        window.subscribe(late)
        late.assert_result(first)
    assert source.requested >= 8


def test_a_window_that_waited_without_a_subscriber_holds_nothing_back() -> None:
    source = Source()
    outer = TestSubscriber[Flowable[int]](request=0)
    Flowable.wrap(source).window_until(third, prefetch=4).subscribe(outer)
    source.next(1, 2, 3)
    assert source.requested == 4
    outer.request(1)
    assert source.requested == 7


@pytest.mark.slow
def test_a_million_items_need_no_stack_and_no_memory() -> None:
    windows = Flowable.range(200_000).hide().window_until(lambda x: x % 4 == 3, prefetch=8)
    assert windows.flat_map(lambda window: window.count()).sum().blocking_get() == 200_000


def test_wrong_arguments_are_refused() -> None:
    wrong: Any = 3
    with pytest.raises(TypeError, match="window_until"):
        Flowable.range(3).window_until(wrong)
    with pytest.raises(ValueError, match="prefetch"):
        Flowable.range(3).window_while(bool, prefetch=0)
