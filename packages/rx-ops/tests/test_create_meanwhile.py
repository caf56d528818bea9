"""create: items are serial with what another thread does meanwhile, and with what comes from inside of one.

What another thread does is done completely between two instructions of the emitter, between each two in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

import ops_parties
import pytest
from ops_parties import NeverTaken, Watchful

from rx_core import gate
from rx_core.streams import ignore, op
from rx_ops import BackpressureStrategy, Emitter, Flowable
from rx_ops.operators import _emitter
from rx_testing import TestSubscriber
from rx_testing.racing import interrupted

WATCHED = (_emitter.__file__, gate.__file__, op.__file__, __file__, ops_parties.__file__)
WANTED = 4


class Serial(Watchful):
    """The subscriber of a create, and its emitter."""

    def __init__(self) -> None:
        super().__init__(WANTED)
        emitters: list[Emitter[Any]] = []
        Flowable.create(emitters.append).subscribe(self)
        self.emitter = emitters[0]

    def second_item(self, at: int, meanwhile: Callable[[], object]) -> int:
        """``meanwhile`` between two instructions of the second item, before the one of that number. How many there are."""
        self.emitter.on_next(0)
        return interrupted(lambda: self.emitter.on_next(1), (at, meanwhile), watch=WATCHED)

    def ends(self) -> list[Any]:
        return [what for what in self.got if not isinstance(what, int)]


def everywhere(meanwhile: Callable[[Serial], object]) -> Iterator[Serial]:
    for at in count():
        made = Serial()
        instructions = made.second_item(at, partial(meanwhile, made))
        yield made
        if at > instructions:
            return


def wrong_request(made: Serial) -> None:
    made.up.request(0)


def test_a_wrong_request_is_answered_once_and_behind_the_item() -> None:
    seen = set()
    for made in everywhere(wrong_request):
        made.emitter.on_next(2)
        assert not made.overlaps
        assert made.got in ([0, ValueError], [0, 1, ValueError])
        seen.add(len(made.got))
    assert len(seen) == 2  # before and after the item


def test_control_where_two_hold_the_token_the_answer_comes_inside_of_the_item() -> None:
    for at in count():
        made = Serial()
        made.emitter.on_next(0)
        made.emitter._op.token = NeverTaken(made.emitter._op.token)
        instructions = interrupted(partial(made.emitter.on_next, 1), (at, partial(wrong_request, made)), watch=WATCHED)
        if made.overlaps:
            return
        assert at <= instructions, "the race was not caught"


def test_a_wrong_request_between_two_items_is_answered_at_once() -> None:
    made = Serial()
    made.emitter.on_next(0)
    made.up.request(-1)
    assert made.got == [0, ValueError]
    assert made.emitter.is_cancelled
    made.emitter.on_next(1)
    assert made.got == [0, ValueError]


def test_what_is_requested_meanwhile_is_counted() -> None:
    for made in everywhere(lambda made: made.up.request(3)):
        for item in range(2, 10):
            made.emitter.on_next(item)
        assert made.got == [*range(WANTED + 3)]
        made.up.request(10)
        made.emitter.on_complete()
        assert made.got == [*range(10), "end"]


def test_a_wrong_request_and_a_right_one_meanwhile() -> None:
    def both(made: Serial) -> None:
        made.up.request(5)
        made.up.request(0)
        made.up.request(5)

    for made in everywhere(both):
        made.emitter.on_next(2)
        assert not made.overlaps
        assert made.ends() == [ValueError]


def test_nothing_comes_behind_a_cancel() -> None:
    for made in everywhere(lambda made: made.up.cancel()):
        made.emitter.on_next(2)
        made.emitter.on_complete()
        assert made.got in ([0], [0, 1])


@pytest.mark.parametrize("end", ["complete", "error"])
def test_an_end_and_a_wrong_request_are_one_end(end: str) -> None:
    for at in count():
        made = Serial()
        made.emitter.on_next(0)
        emitter = made.emitter
        call = emitter.on_complete if end == "complete" else partial(emitter.on_error, KeyError())
        instructions = interrupted(call, (at, partial(wrong_request, made)), watch=WATCHED)
        assert made.ends() in ([ValueError], ["end" if end == "complete" else KeyError])
        if at > instructions:
            return


def test_an_item_from_inside_of_another_comes_behind_it() -> None:
    made = Serial()

    def more() -> None:
        for item in (2, 3, 4):
            made.emitter.on_next(item)

    made.within[1] = more
    for item in (0, 1, 5):
        made.emitter.on_next(item)
    assert not made.overlaps
    assert made.got == [0, 1, 2, 3]
    made.up.request(5)
    made.emitter.on_complete()
    assert made.got == [0, 1, 2, 3, 4, 5, "end"]


def test_an_item_from_inside_of_another_is_behind_it_while_a_request_is_dealt_with() -> None:
    """The other thread finds what waits and gives it, unless the item is still on its way."""
    for at in count():
        made = Serial()
        made.within[1] = partial(made.emitter.on_next, 2)
        instructions = made.second_item(at, partial(made.up.request, 2))
        for item in (3, 4, 5, 6):
            made.emitter.on_next(item)
        assert not made.overlaps
        assert made.got == [*range(WANTED + 2)]
        if at > instructions:
            return


def test_the_end_from_inside_of_an_item_comes_behind_it_and_behind_what_waits() -> None:
    made = Serial()

    def last() -> None:
        made.emitter.on_next(2)
        made.emitter.on_complete()

    made.within[1] = last
    made.emitter.on_next(0)
    made.emitter.on_next(1)
    assert not made.overlaps
    assert made.got == [0, 1, 2, "end"]
    made.emitter.on_next(3)
    assert made.got == [0, 1, 2, "end"]


def test_the_emitter_knows_what_is_wanted() -> None:
    made = Serial()
    assert made.emitter.requested == WANTED
    wanted = []
    made.within[1] = lambda: wanted.append(made.emitter.requested)
    for item in range(WANTED):
        made.emitter.on_next(item)
        assert made.emitter.requested == WANTED - 1 - item
    assert wanted == [WANTED - 1]  # with the item that is on its way
    made.up.request(7)
    assert made.emitter.requested == 7


def waiting(at: int, meanwhile: Callable[[TestSubscriber[int]], object], gone: Callable[[Any], object]) -> tuple[Any, Any, int]:
    """``meanwhile`` while the third item is put behind two that wait."""
    emitters: list[Emitter[int]] = []
    got: TestSubscriber[int] = TestSubscriber(0)
    Flowable.create(emitters.append).do_on_discard(gone).subscribe(got)
    emitter = emitters[0]
    emitter.on_next(1)
    emitter.on_next(2)
    instructions = interrupted(lambda: emitter.on_next(3), (at, lambda: meanwhile(got)), watch=WATCHED)
    return emitter, got, instructions


def test_a_request_that_takes_what_waits_gets_the_item_that_is_just_put_there() -> None:
    for at in count():
        emitter, got, instructions = waiting(at, lambda got: got.request(5), ignore)
        got.assert_values(1, 2, 3)
        emitter.on_complete()
        got.assert_complete()
        if at > instructions:
            return


def test_a_cancel_that_discards_what_waits_does_not_miss_the_item_that_is_just_put_there() -> None:
    for at in count():
        gone: list[Any] = []
        _, got, instructions = waiting(at, lambda got: got.cancel(), gone.append)
        assert sorted(gone) == [1, 2, 3]
        got.assert_values()
        if at > instructions:
            return


def test_what_is_dropped_is_what_was_not_wanted() -> None:
    emitters: list[Emitter[int]] = []
    dropped: list[int] = []
    got: TestSubscriber[int] = TestSubscriber(WANTED)
    Flowable.create(emitters.append, BackpressureStrategy.DROP, on_drop=dropped.append).subscribe(got)
    for item in range(6):
        emitters[0].on_next(item)
    got.request(2)
    for item in range(6, 10):
        emitters[0].on_next(item)
    got.assert_values(0, 1, 2, 3, 6, 7)
    assert dropped == [4, 5, 8, 9]


def test_a_subscriber_that_raises_has_left() -> None:
    made = Serial()

    def fail() -> None:
        made.inside = False
        raise KeyError

    cleaned: list[bool] = []
    made.emitter.set_cancellable(lambda: cleaned.append(True))
    made.within[1] = fail
    made.emitter.on_next(0)
    with pytest.raises(KeyError):
        made.emitter.on_next(1)
    assert cleaned == [True]
    assert made.emitter.is_cancelled
    made.emitter.on_next(2)
    assert made.got == [0, 1]


def test_a_recursion_error_in_an_item_reaches_the_subscriber() -> None:
    made = Serial()

    def exhaust() -> None:
        made.inside = False
        raise RecursionError

    made.within[1] = exhaust
    made.emitter.on_next(0)
    with pytest.raises(RecursionError):
        made.emitter.on_next(1)
    made.emitter.on_complete()  # as what is further down the stack does, with the error or an end of its own
    assert made.got == [0, 1, RecursionError]
