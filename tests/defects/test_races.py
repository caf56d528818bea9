"""What another thread may do between two instructions of the library, done there: at each of them in turn, without chance.

Each check has a control: something that is broken in the way the check is for, and has to be caught.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

import rx_core
import rx_fusion
import rx_ops
from rx_core import UNBOUNDED
from rx_ops import Flowable, GroupedFlowable, PublishProcessor
from rx_testing import ManualPublisher
from rx_testing.racing import interrupted
from tests.conformance.harness import dropped_errors
from tests.defects.watching import COMPLETE, An, Log

pytestmark = pytest.mark.stress

#: The code between whose instructions something happens: the library's, and the controls'.
WATCHED: Final = (*(str(Path(package.__file__).parent) for package in (rx_core, rx_fusion, rx_ops) if package.__file__), __file__)

#: So many instructions are tried one by one.
MANY: Final = 1000

Act = Callable[[], object]
#: One round: a call, what others do inside of it, and a check.
Scene = tuple[Act, Sequence[Act], Act]


def at_each_instruction(scenes: Callable[[], Scene], *, apart: int = 1) -> None:
    """Play a scene as often as its call has instructions: what others do is done before another one of them each time.

    What comes second is done so many instructions later. Where there are thousands, some are left out, in even steps.
    """
    number = total = 0
    while number <= total:
        call, others, check = scenes()
        placed = [(number + place * apart, act) for place, act in enumerate(others)]
        total = interrupted(call, *placed, watch=WATCHED)
        try:
            check()
        except AssertionError as error:
            raise AssertionError(f"with the others before instruction {number} of {total}: {error}") from None
        number += 1 + total // MANY


# A subscriber that comes and goes while another one comes


def coming_and_going(share: Callable[[Any], Any]) -> Callable[[], Scene]:
    def scene() -> Scene:
        source = ManualPublisher[int](unchecked=True)
        shared = share(Flowable.wrap(source))
        stays, goes = Log(), Log()

        def come_and_go() -> None:
            shared.subscribe(goes)
            goes.upstream.cancel()

        def check() -> None:
            for each in list(source.subscriptions):
                if not each.cancelled:
                    each.next(1, 2)
            assert stays.signals == [1, 2]

        return lambda: shared.subscribe(stays), (come_and_go,), check

    return scene


class ForgetfulSharing:
    """A control: the connection is looked up, and counted on later, when it may be gone."""

    def __init__(self, flow: Flowable[Any]) -> None:
        self.flow = flow
        self.connection: PublishProcessor[Any] | None = None
        self.subscribers = 0

    def subscribe(self, log: Log) -> None:
        connection = self.connection
        if connection is None:
            connection = self.connection = PublishProcessor()
            self.flow.subscribe(connection)
        self.subscribers += 1
        log.on_subscribe(_Leaving(self, connection, log))
        connection.subscribe(log.on_next)


class _Leaving:
    def __init__(self, sharing: ForgetfulSharing, connection: PublishProcessor[Any], log: Log) -> None:
        self.sharing, self.connection, self.log = sharing, connection, log

    def request(self, _n: int) -> None: ...

    def cancel(self) -> None:
        self.sharing.subscribers -= 1
        if not self.sharing.subscribers:
            self.sharing.connection = None
            self.connection.on_complete()


def test_a_subscriber_of_ref_count_is_not_left_on_a_connection_that_another_one_ended() -> None:
    at_each_instruction(coming_and_going(lambda flow: flow.publish().ref_count()))


def test_a_subscriber_left_on_an_old_connection_is_noticed() -> None:
    with pytest.raises(AssertionError, match="before instruction"):
        at_each_instruction(coming_and_going(ForgetfulSharing))


# Two that want the same group or window


def both_subscribing(make: Callable[[PublishProcessor[int]], Any]) -> Callable[[], Scene]:
    def scene() -> Scene:
        processor, parts = PublishProcessor[int](), list[Any]()
        first, second = Log(), Log()

        def take(part: Any) -> None:
            parts.append(part)
            part.subscribe(first)

        def come_second() -> None:
            for part in parts:  # there is none before it was given
                part.subscribe(second)

        def check() -> None:
            both = [first.signals, second.signals]  # the one that comes second may be the first to have it
            assert [7] in both
            both.remove([7])
            assert both in ([[]], [[An(RuntimeError)]])

        make(processor).subscribe(take)
        return lambda: processor.on_next(7), (come_second,), check

    return scene


class TakenTwice:
    """A control: whether it is taken is looked at first, and noted later."""

    def __init__(self, item: int) -> None:
        self.item, self.taken = item, False

    def subscribe(self, log: Log) -> None:
        if self.taken:
            log.on_error(RuntimeError("taken"))
            return
        self.taken = True
        log.on_next(self.item)


def test_only_one_of_two_subscribers_gets_a_group() -> None:
    at_each_instruction(both_subscribing(lambda flow: flow.group_by(lambda _item: 0)))


def test_only_one_of_two_subscribers_gets_a_window() -> None:
    at_each_instruction(both_subscribing(lambda flow: flow.window(10)))


def test_a_part_that_both_get_is_noticed() -> None:
    with pytest.raises(AssertionError, match="before instruction"):
        at_each_instruction(both_subscribing(lambda flow: flow.map(TakenTwice)))


# A group that is left while its source goes on

#: How many items may wait in groups that are not read; as many groups are left one after the other.
BUFFER: Final = 8


class Groups:
    """Some groups, none of which is read until it is asked for more."""

    def __init__(self) -> None:
        self.source = ManualPublisher[int](unchecked=True)
        self.logs: dict[int, Log] = {}
        self.ended = list[Any]()
        groups = Flowable.wrap(self.source).group_by(lambda key: key, buffer_size=BUFFER)
        groups.subscribe(self.take, on_error=self.ended.append, on_complete=lambda: self.ended.append(COMPLETE))

    def take(self, group: GroupedFlowable[int, int]) -> None:
        again = group.key in self.logs
        self.logs[group.key] = log = Log(request=UNBOUNDED if again else 0)
        group.subscribe(log)

    def leave(self, key: int) -> None:
        self.logs[key].upstream.cancel()

    def room(self) -> int:
        """How many items are taken for a group that is not read; then nothing is requested any more."""
        source = self.source.subscriptions[0]
        taken = 0
        while source.outstanding and not source.cancelled:
            source.next(-1)
            taken += 1
        return taken


def test_a_source_that_ends_while_a_group_is_being_left_ends_the_stream() -> None:
    def scene() -> Scene:
        groups = Groups()
        groups.source.next(1, 2)

        def check() -> None:
            groups.logs[2].upstream.request(UNBOUNDED)
            assert groups.logs[2].signals == [2, COMPLETE]
            assert groups.ended == [COMPLETE]
            assert dropped == []

        return lambda: groups.leave(1), (groups.source.complete,), check

    with dropped_errors() as dropped:
        at_each_instruction(scene)


def test_items_that_come_for_groups_that_are_being_left_take_no_room_for_ever() -> None:
    check_that_no_room_is_lost(lambda groups, key: (partial(groups.leave, key), partial(groups.source.next, key)))


def test_groups_that_are_left_while_an_item_comes_take_no_room_for_ever() -> None:
    check_that_no_room_is_lost(lambda groups, key: (partial(groups.source.next, key), partial(groups.leave, key)))


def test_items_that_take_room_for_ever_are_noticed() -> None:
    """The groups are not left at all, and their items wait."""
    with pytest.raises(AssertionError, match="before instruction"):
        check_that_no_room_is_lost(lambda _groups, _key: (lambda: None, lambda: None))


def check_that_no_room_is_lost(acts: Callable[[Groups, int], tuple[Act, Act]]) -> None:
    """As many groups are left as items may wait, and in each the same happens: forgotten items would take all the room."""
    room = Groups().room()
    number = total = 0
    while number <= total:
        groups = Groups()
        for key in range(BUFFER):
            groups.source.next(key)
            call, other = acts(groups, key)
            total = interrupted(call, (number, other), watch=WATCHED)
        left = groups.room()  # less by what is not requested again yet, which may be a quarter of the buffer
        assert left >= room - BUFFER // 4, f"{left} of {room} with the other act before instruction {number} of {total}"
        number += 3  # what is wrong would be wrong for some instructions


# Items that come while others are requested


def requesting(make: Callable[[Flowable[int]], Any]) -> Callable[[], Scene]:
    """One thread requests; another one sends an item, and a moment later the last one and the end."""

    def scene() -> Scene:
        source = ManualPublisher[int](unchecked=True)
        log = Log(request=1)
        make(Flowable.wrap(source)).subscribe(log)
        source.next(0)

        def end() -> None:
            source.next(2)
            source.complete()

        def check() -> None:
            assert log.signals == [0, 1, 2, COMPLETE]

        return lambda: log.upstream.request(5), (lambda: source.next(1), end), check

    return scene


class ForgetfulBuffer:
    """A control: another call is noted while items are passed on, and the note is cleared too late."""

    def __init__(self, flow: Flowable[int]) -> None:
        self.flow = flow
        self.waiting = deque[Any]()
        self.wanted = 0
        self.busy = self.called = False

    def subscribe(self, log: Log) -> None:
        self.log = log
        log.on_subscribe(self)
        self.flow.subscribe(self.put, on_complete=lambda: self.put(COMPLETE))

    def request(self, n: int) -> None:
        self.wanted += n
        self.drain()

    def put(self, item: Any) -> None:
        self.waiting.append(item)
        self.drain()

    def drain(self) -> None:
        if self.busy:
            self.called = True
            return
        self.busy = True
        while True:
            while self.waiting and self.wanted:
                self.wanted -= 1
                self.log.on_next(self.waiting.popleft())
            if not self.called:
                break
            self.called = False
        self.busy = False


BUFFERS: dict[str, Callable[[Flowable[int]], Flowable[int]]] = {
    "on_backpressure_buffer": lambda flow: flow.on_backpressure_buffer(64),
    "merge_with": lambda flow: flow.merge_with(Flowable.empty()),
    "concat_map": lambda flow: flow.concat_map(lambda item: Flowable.just(item).hide()),
}


@pytest.mark.parametrize("name", BUFFERS)
def test_nothing_waits_for_ever_that_came_while_it_was_requested(name: str) -> None:
    at_each_instruction(requesting(BUFFERS[name]), apart=9)


def test_an_item_that_is_forgotten_is_noticed() -> None:
    with pytest.raises(AssertionError, match="before instruction"):
        at_each_instruction(requesting(ForgetfulBuffer), apart=9)


# Rows that are requested while an item comes that seems to complete one


def completing_a_row() -> Scene:
    first, second = ManualPublisher[int](), ManualPublisher[str]()
    log = Log(request=0)
    Flowable.zip(first, second).subscribe(log)
    first.next(1)
    second.next("a")

    def check() -> None:
        assert log.signals == [(1, "a")]
        second.next("b")
        assert log.signals == [(1, "a"), (2, "b")]

    return lambda: first.next(2), (lambda: log.upstream.request(3),), check


def test_a_row_that_is_requested_while_an_item_comes_takes_nothing_from_that_item() -> None:
    at_each_instruction(completing_a_row)
