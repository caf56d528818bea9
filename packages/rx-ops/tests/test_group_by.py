"""group_by: when groups begin and end, who is told of an error, and what the source is asked for."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from rx_core import UNBOUNDED, MissingBackpressureError, WorkerInterruptedError
from rx_ops import Flowable, GroupedFlowable, Observable, PublishProcessor
from rx_ops.operators._part import Holders, Part
from rx_testing import ManualPublisher, TestObserver, TestSubscriber
from rx_testing.racing import race, rounds

Source = ManualPublisher[Any]


@pytest.fixture
def source() -> Source:
    return ManualPublisher()


class Groups:
    """Subscribes to each group with a subscriber of its own, which requests ``each``; not to those whose key is in ``skip``."""

    def __init__(
        self, groups: Flowable[GroupedFlowable[Any, Any]], *, request: int = UNBOUNDED, each: int = UNBOUNDED, skip: Any = ()
    ) -> None:
        self.each, self.skip = each, skip
        self.parts: list[tuple[Any, TestSubscriber[Any]]] = []
        self.skipped: list[GroupedFlowable[Any, Any]] = []
        self.outer: TestSubscriber[Any] = TestSubscriber(request=request, on_value=self.take)
        groups.subscribe(self.outer)

    def take(self, group: GroupedFlowable[Any, Any]) -> None:
        if group.key in self.skip:
            self.skipped.append(group)
            return
        made: TestSubscriber[Any] = TestSubscriber(request=self.each)
        self.parts.append((group.key, made))
        group.subscribe(made)

    def __getitem__(self, at: int) -> TestSubscriber[Any]:
        return self.parts[at][1]

    @property
    def values(self) -> list[tuple[Any, list[Any]]]:
        return [(key, made.values) for key, made in self.parts]


def odd(item: int) -> int:
    return item % 2


# -- groups ------------------------------------------------------------------------------------------------------------


def test_a_group_is_emitted_with_its_first_item(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(odd))
    source.next(1)
    assert got.values == [(1, [1])]
    source.next(2, 3)
    assert got.values == [(1, [1, 3]), (0, [2])]
    source.complete()
    got[0].assert_result(1, 3)
    got[1].assert_result(2)
    got.outer.assert_complete()


def test_the_first_item_waits_in_the_group_while_that_is_emitted(source: Source) -> None:
    seen: list[Any] = []

    def take(group: Flowable[Any]) -> None:
        group.subscribe(seen.append)
        seen.append("taken")

    Flowable.wrap(source).group_by(odd).subscribe(take)
    source.next(1, 3)
    assert seen == [1, "taken", 3]


def test_groups_end_in_the_order_in_which_they_began_and_before_their_stream(source: Source) -> None:
    ends: list[Any] = []

    def take(group: GroupedFlowable[int, Any]) -> None:
        group.subscribe(lambda _item: None, on_complete=lambda: ends.append(group.key))

    Flowable.wrap(source).group_by(lambda n: n % 3).subscribe(take, on_complete=lambda: ends.append("all"))
    source.next(2, 0, 1, 0)
    source.complete()
    assert ends == [2, 0, 1, "all"]


def test_the_key_of_a_group_that_was_left_comes_again(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(odd))
    source.next(1)
    got[0].cancel()
    source.next(3, 5)
    assert got.values == [(1, [1]), (1, [3, 5])]
    assert not source.cancelled


def test_values_are_made_of_the_items(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(odd, str))
    source.next(1, 2, 3)
    assert got.values == [(1, ["1", "3"]), (0, ["2"])]


def test_a_group_allows_one_subscriber() -> None:
    group = Flowable.just(1).group_by(odd).blocking_first()
    assert repr(group) == "group(1)"
    first, second = TestSubscriber[Any](), TestSubscriber[Any]()
    group.subscribe(first)
    group.subscribe(second)
    first.assert_result(1)
    second.assert_error(RuntimeError, match=r"group\(1\) allows one subscriber")


def test_many_keys_that_come_once_are_not_kept() -> None:
    """A group that was left is forgotten with the next new one: its key may never come again."""
    made: list[Any] = []

    def first(group: GroupedFlowable[int, int]) -> Flowable[int]:
        made.append(group._head.part.main)  # type: ignore[attr-defined]  # the head of a group
        return group.take(1)

    assert Flowable.range(1000).group_by(lambda n: n).flat_map(first).count().blocking_get() == 1000
    sizes: list[int] = []
    source = PublishProcessor[int]()
    source.group_by(lambda n: n).flat_map(lambda g: first(g)).subscribe(lambda _n: sizes.append(len(made[-1].groups)))
    for n in range(50):
        source.on_next(n)
    assert max(sizes) <= 2


# -- abandoned groups --------------------------------------------------------------------------------------------------


def test_a_group_that_is_not_subscribed_while_it_is_emitted_is_abandoned(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(odd), skip={1})
    source.next(1, 2, 3, 5)
    assert [group.key for group in got.skipped] == [1, 1, 1]
    for group, item in zip(got.skipped, (1, 3, 5), strict=True):
        late = TestSubscriber[Any](request=0)
        group.subscribe(late)
        late.assert_not_terminated()
        late.request(1)
        late.assert_result(item)
    assert source.subscriptions[0].outstanding >= 128 - 32 - 4  # what waited in them holds nothing back


def test_abandoned_groups_do_not_hold_the_source(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(odd), skip={0, 1})
    source.next(1, 2)
    got.outer.cancel()
    assert source.cancelled


def test_groups_that_wait_in_concat_map_are_not_abandoned() -> None:
    groups = Flowable.range(9).group_by(odd).concat_map(lambda group: group.to_list())
    assert groups.to_list().blocking_get() == [[0, 2, 4, 6, 8], [1, 3, 5, 7]]


def test_a_group_that_concat_map_had_and_made_nothing_of_comes_again() -> None:
    keys = Flowable.range(6).group_by(odd).concat_map(lambda group: Flowable.just(group.key))
    assert keys.to_list().blocking_get() == [0, 1, 0, 1, 0, 1]


def test_groups_that_wait_in_concat_map_are_left_when_that_is_cancelled(source: Source) -> None:
    got = TestSubscriber[Any]()
    Flowable.wrap(source).group_by(odd).concat_map(lambda group: group).subscribe(got)
    source.next(1, 2)
    got.cancel()
    assert source.cancelled


# -- leaving -----------------------------------------------------------------------------------------------------------


def test_open_groups_go_on_when_their_stream_is_left(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(odd))
    source.next(1)
    got.outer.cancel()
    source.next(2, 3)
    assert got.values == [(1, [1, 3])]
    source.complete()
    got[0].assert_result(1, 3)


def test_the_source_is_cancelled_with_the_last_group(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(odd))
    source.next(1, 2)
    got.outer.cancel()
    got[0].cancel()
    assert not source.cancelled
    got[1].cancel()
    assert source.subscriptions[0].cancellations == 1


def test_the_stream_of_groups_goes_on_when_all_groups_are_left(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(odd))
    source.next(1)
    got[0].cancel()
    source.next(2)
    assert got.values == [(1, [1]), (0, [2])]
    got.outer.cancel()
    got[1].cancel()
    assert source.cancelled


def test_items_of_new_groups_are_asked_for_again_when_the_stream_of_groups_was_left(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(lambda n: min(n, 1), buffer_size=4))
    source.next(0)
    got.outer.cancel()
    for _ in range(100):
        source.next(5)  # AssertionError without demand
    source.next(0)
    assert got.values == [(0, [0, 0])]


@pytest.mark.parametrize("fails", [False, True])
def test_a_source_that_ends_is_not_cancelled(fails: bool, source: Source) -> None:
    Groups(Flowable.wrap(source).group_by(odd))
    source.next(1, 2)
    if fails:
        source.error(OSError())
    else:
        source.complete()
    assert source.subscriptions[0].cancellations == 0  # RS 2.3


def test_do_finally_before_group_by_waits_for_the_last_group(source: Source) -> None:
    calls: list[str] = []
    got = Groups(Flowable.wrap(source).do_finally(lambda: calls.append("over")).group_by(odd))
    source.next(1)
    got.outer.cancel()
    source.next(3)
    assert not calls
    got[0].cancel()
    assert source.cancelled
    assert calls == ["over"]


# -- errors ------------------------------------------------------------------------------------------------------------


def test_an_error_goes_to_the_groups_and_to_their_stream(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(odd))
    error = StopIteration("mine")
    source.next(1, 2)
    source.error(error)
    got[0].assert_failure(error, 1)
    got[1].assert_failure(error, 2)
    got.outer.assert_error(error)


def test_an_error_is_signalled_although_all_groups_deal_with_theirs() -> None:
    failing = Flowable.concat(Flowable.of(1, 2), Flowable.error(OSError()))
    got = TestSubscriber[Any]()
    failing.group_by(odd).flat_map(lambda group: group.on_error_return(lambda _error: 0)).subscribe(got)
    assert isinstance(got.error, OSError)
    assert got.values[:2] == [1, 2]


def test_an_error_does_not_wait_behind_the_items_of_a_group(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(odd), each=1)
    source.next(1, 3, 5)
    error = OSError()
    source.error(error)
    got[0].assert_failure(error, 1)


@pytest.mark.parametrize("which", ["key", "value"])
def test_what_a_function_raises_ends_everything_and_names_it(which: str, source: Source) -> None:
    def fails(item: int) -> int:
        return item % 2 // (3 - item)

    groups = Flowable.wrap(source).group_by(*((fails,) if which == "key" else (odd, fails)))
    got = Groups(groups)
    source.next(1, 2, 3)
    error = got.outer.error
    assert isinstance(error, ZeroDivisionError)
    assert any("in group_by(" in note for note in error.__notes__)
    assert all(made.error is error for _, made in got.parts)
    assert source.cancelled


def test_a_group_whose_first_value_fails_is_emitted_and_fails(source: Source) -> None:
    def fails(item: int) -> int:
        raise LookupError(item)

    got = Groups(Flowable.wrap(source).group_by(odd, fails))
    source.next(1)
    got[0].assert_failure(LookupError)
    got.outer.assert_failure(LookupError, *got.outer.values)


def test_none_is_no_value(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(odd, lambda _n: None))
    source.next(1)
    got.outer.assert_error(TypeError, match="group_by.* produced None")
    assert source.cancelled


def test_a_key_that_is_not_hashable_is_an_error(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(lambda n: [n]))
    source.next(1)
    got.outer.assert_error(TypeError, match="unhashable")
    assert source.cancelled


def test_a_subscriber_that_raises_ends_the_other_groups_with_its_error(source: Source) -> None:
    """The source takes it for a cancel (RS 2.13), so nothing would come for them any more."""
    thrown = LookupError("mine")
    other = TestSubscriber[Any]()

    def throw(item: int) -> None:
        if item == 3:
            raise thrown

    def take(group: GroupedFlowable[int, int]) -> None:
        group.subscribe(TestSubscriber[Any](on_value=throw) if group.key else other)

    outer = TestSubscriber[Any](on_value=take)
    Flowable.wrap(source).group_by(odd).subscribe(outer)
    source.next(1, 2)
    with pytest.raises(LookupError):
        source.next(3)
    other.assert_failure(thrown, 2)
    outer.assert_error(thrown)
    assert source.cancelled


def test_a_part_whose_subscriber_raised_lets_go_of_the_source() -> None:
    left: list[str] = []
    holders = Holders(lambda: left.append("left"))
    part = Part(holders, "part")
    holders.release()  # the stream of parts

    def throw(_item: object) -> None:
        raise LookupError

    part.attach(TestSubscriber[Any](on_value=throw))
    with pytest.raises(LookupError):
        part.push(1)
    assert left == ["left"]
    assert part.push(2)  # dropped: nobody is there


def test_an_interrupt_in_the_key_function_gives_the_source_back(source: Source) -> None:
    def key(item: int) -> int:
        if item == 2:
            raise KeyboardInterrupt
        return item

    got = Groups(Flowable.wrap(source).group_by(key))
    source.next(1)
    with pytest.raises(KeyboardInterrupt):
        source.next(2)
    assert source.cancelled
    got.outer.assert_not_terminated()


def test_an_interrupt_on_another_thread_ends_the_stream(source: Source) -> None:
    def key(_item: int) -> int:
        raise KeyboardInterrupt

    got = Groups(Flowable.wrap(source).group_by(key))
    caught: list[BaseException] = []

    def send() -> None:
        try:
            source.next(1)
        except KeyboardInterrupt as error:
            caught.append(error)

    thread = threading.Thread(target=send)
    thread.start()
    thread.join()
    assert caught
    got.outer.assert_error(WorkerInterruptedError)
    assert source.cancelled


# -- demand ------------------------------------------------------------------------------------------------------------


def test_a_group_that_is_not_requested_is_an_error_at_once(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(lambda n: n), request=2)
    source.next(1, 2)
    got.outer.assert_not_terminated()
    source.next(1, 3)
    got.outer.assert_error(MissingBackpressureError, match="2 groups are open")
    got[0].assert_failure(MissingBackpressureError, 1, 1)
    got[1].assert_failure(MissingBackpressureError, 2)
    assert source.cancelled


def test_groups_may_be_requested_while_one_is_emitted(source: Source) -> None:
    got = TestSubscriber[Any](request=1, on_value=lambda group: (group.subscribe(lambda _n: None), got.request(1)))
    Flowable.wrap(source).group_by(lambda n: n).subscribe(got)
    source.next(*range(20))
    got.assert_value_count(20).assert_not_terminated()


def test_a_wrong_request_is_the_end() -> None:
    got = Groups(Flowable.of(1, 2).concat_with(Flowable.never()).group_by(odd))
    got.outer.request(-1)
    got.outer.assert_failure(ValueError, *got.outer.values)
    got[0].assert_failure(ValueError, 1)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 128])
def test_the_source_is_asked_for_the_bound_and_for_as_much_again_as_is_taken(size: int, source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(odd, buffer_size=size))
    assert source.requested == size
    for item in range(1000):
        source.next(item)  # AssertionError without demand
        assert source.subscriptions[0].outstanding <= size
    assert [len(values) for _, values in got.values] == [500, 500]


@pytest.mark.parametrize("size", [1, 2, 3, 8, 128])
def test_items_that_wait_hold_the_source_back_until_they_are_taken(size: int, source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(odd, buffer_size=size), each=0)
    for _ in range(size):
        source.next(1)
    assert source.subscriptions[0].outstanding == 0
    got[0].request(size)
    assert source.subscriptions[0].outstanding > size // 2
    got[0].request(UNBOUNDED)
    source.next(*[1] * source.subscriptions[0].outstanding)
    assert source.subscriptions[0].outstanding > size // 2


def test_items_that_a_group_gives_up_hold_nothing_back(source: Source) -> None:
    got = Groups(Flowable.wrap(source).group_by(odd, buffer_size=8), each=0)
    source.next(*[1] * 8)
    assert source.subscriptions[0].outstanding == 0
    got[0].cancel()
    assert source.subscriptions[0].outstanding == 8


@pytest.mark.parametrize("seed", range(60))
def test_no_room_is_lost_and_none_is_made_up(seed: int) -> None:
    """Whatever groups take, leave and request: what is outstanding, what waits and what is not asked for yet make the bound."""
    rnd = random.Random(seed)
    size = rnd.choice([1, 2, 3, 5, 8, 16])
    source: Source = ManualPublisher()
    got = Groups(Flowable.wrap(source).group_by(lambda n: n, buffer_size=size), each=rnd.choice([0, 1, 3]))
    upstream = None
    for _ in range(300):
        upstream = source.subscriptions[0]
        act = rnd.random()
        if act < 0.6 and upstream.outstanding:
            source.next(rnd.randrange(4))
        elif got.parts and act < 0.8:
            rnd.choice(got.parts)[1].request(rnd.randrange(1, 4))
        elif got.parts and act < 0.9:
            rnd.choice(got.parts)[1].cancel()
        assert upstream.outstanding <= size
    for _, made in got.parts:
        made.request(UNBOUNDED)
    assert upstream is not None
    assert size - 2 * max(size // 4 - 1, 0) <= upstream.outstanding <= size


def test_a_stalled_group_fails_a_hot_source_at_once() -> None:
    hot = PublishProcessor[int]()
    errors: list[Exception] = []
    flow = hot.group_by(odd).flat_map(lambda group: group.concat_map(lambda _n: Flowable.never()) if group.key else group)
    flow.subscribe(lambda _n: None, on_error=errors.append)
    sent = 0
    while hot.has_subscribers and sent < 2000:
        hot.on_next(sent)
        sent += 1
    assert isinstance(errors[0], MissingBackpressureError)
    assert sent <= 300


def test_a_flattened_source_is_read_no_further_than_is_wanted() -> None:
    read: list[int] = []
    closed: list[bool] = []

    def items() -> Iterator[int]:
        try:
            for item in range(1_000):
                read.append(item)
                yield item
        finally:
            closed.append(True)

    firsts = Flowable.from_iterable(items()).group_by(lambda x: x % 3).flat_map(lambda g: g.map(str)).take(4)
    assert firsts.to_list().blocking_get() == ["0", "1", "2", "3"]
    assert read == [0, 1, 2, 3]
    assert closed == [True]


# -- Observables -------------------------------------------------------------------------------------------------------


def test_groups_of_an_observable() -> None:
    got = TestObserver[Any]()
    Observable.of(5, 3, 4, 2, 1, 3).group_by(lambda n: n % 3).flat_map(lambda g: g.to_list().map(lambda n: (g.key, n))).subscribe(
        got
    )
    got.assert_result((2, [5, 2]), (0, [3, 3]), (1, [4, 1]))


def test_an_observable_with_more_keys_than_any_window() -> None:
    got = TestObserver[Any]()
    Observable.range(5_000).group_by(lambda n: n).flat_map(lambda group: group.count()).subscribe(got)
    got.assert_complete()
    assert sum(got.values) == 5_000


# -- threads -----------------------------------------------------------------------------------------------------------


@pytest.mark.stress
def test_groups_that_are_left_and_read_on_other_threads_lose_neither_items_nor_room() -> None:
    for number in rounds(20):
        rnd = random.Random(number)
        size = rnd.choice([2, 4, 16])
        source: Source = ManualPublisher(unchecked=True)
        groups: list[TestSubscriber[Any]] = []
        ready = threading.Event()

        def take(group: GroupedFlowable[int, int], groups: list[Any] = groups, ready: Any = ready) -> None:
            made = TestSubscriber[Any](request=0)
            group.subscribe(made)
            groups.append(made)
            ready.set()

        Flowable.wrap(source).group_by(lambda n: n % 3, buffer_size=size).subscribe(take)
        upstream = source.subscriptions[0]
        sent: list[int] = []

        def send(upstream: Any = upstream, sent: list[int] = sent) -> None:
            for item in range(300):
                if upstream.outstanding > 0:
                    upstream.next(item)
                    sent.append(item)

        def read(groups: list[Any] = groups, ready: Any = ready, rnd: random.Random = rnd) -> None:
            ready.wait(5)
            for _ in range(100):
                made = rnd.choice(groups)
                if rnd.random() < 0.1:
                    made.cancel()
                else:
                    made.request(rnd.randrange(1, 4))

        race(send, read, watch=[_operators()])
        for made in groups:
            made.request(UNBOUNDED)
        assert size - 2 * max(size // 4 - 1, 0) <= upstream.outstanding <= size
        upstream.complete()
        got = [item for made in groups for item in made.values]
        assert len(got) == len(set(got))
        assert all(made.is_terminated or made.is_cancelled for made in groups)
        for made in groups:
            assert made.values == sorted(made.values)


def _operators() -> str:
    from rx_ops.operators import _group

    return str(_group.__file__).rsplit("/", 1)[0]
