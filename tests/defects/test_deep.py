"""However many operators are on one another, the stream gives its items; and running out of stack never looks like an end.

Those that run out of stack have a process of their own: CPython 3.11 may not be able to parse anything after that.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from rx_core.streams import Op
from rx_ops import Flowable
from rx_testing import TestSubscriber
from tests.defects.apart import printed
from tests.defects.modes import FUSED, UNFUSED
from tests.defects.watching import signals

#: A program's beginning. An error of the interpreter is printed by its class.
WATCHING: Final = """
from rx_ops import Flowable

def show(flow):
    got = []
    failed, complete = lambda error: got.append(type(error).__name__), lambda: got.append("complete")
    try:
        flow.subscribe(got.append, on_error=failed, on_complete=complete)
    except RecursionError:
        got.append("raised RecursionError")
    print(*got)
"""


# Without fusion each operator is subscribed by the one behind it, inside of that one's subscribe(), and its items come in there.
# With CPython's limit of 1,000 frames: concat_with and a map behind it take 16 frames until the first item has come down, so 63
# of them fit; flat_map_iterable takes 10 until the item and 11 until the end, and 89 fit. To subscribe later, from a loop further
# down the stack, needs to know that nothing in between does anything behind subscribe(): but merge and zip subscribe to their
# next source there, ref_count connects, and a foreign publisher sends. So a limit there is, and behind it an error, never an end.
CONCATENATED: Final = """
flow = Flowable.just(0)
for number in range(1, {levels}):
    flow = flow.concat_with(Flowable.just(number)).map(lambda item: item)
show(flow)
"""
FLATTENED: Final = """
flow = Flowable.just(7)
for _ in range({levels}):
    flow = flow.flat_map_iterable(lambda item: (item,))
show(flow)
"""


def test_many_sources_are_concatenated_one_after_the_other(mode: str) -> None:
    levels = 200 if mode == FUSED else 60
    expected = " ".join([*map(str, range(levels)), "complete"])
    assert printed(WATCHING + CONCATENATED.format(levels=levels), mode) == expected


def test_many_iterables_are_flattened_inside_one_another(mode: str) -> None:
    levels = 200 if mode == FUSED else 80
    assert printed(WATCHING + FLATTENED.format(levels=levels), mode) == "7 complete"


@pytest.mark.parametrize("program", [CONCATENATED, FLATTENED], ids=["concat_with", "flat_map_iterable"])
@pytest.mark.parametrize("levels", [90, 100, 1000])
def test_a_stack_that_is_not_deep_enough_without_fusion_is_an_error(program: str, levels: int) -> None:
    assert printed(WATCHING + program.format(levels=levels), UNFUSED).endswith("RecursionError")


# Each run ends in another frame of another operator, and some of them have no stack left for what they do with an error.
WINDOWED: Final = """
def deeper(frames, function):
    return function() if not frames else deeper(frames - 1, function)

for levels in range(20, 61):
    flow = Flowable.of(1).hide()
    for _ in range(levels):
        flow = flow.window(3).flat_map(lambda window: window)
    for frames in range(4):
        deeper(frames, lambda: show(flow))
"""


@pytest.mark.parametrize("mode", [FUSED, UNFUSED])
def test_wherever_the_stack_ends_the_subscriber_hears_of_it(mode: str) -> None:
    answers = printed(WATCHING + WINDOWED, mode).splitlines()
    assert len(answers) == 164
    assert set(answers) == {"1 complete", "1 RecursionError", "RecursionError"}


@pytest.mark.parametrize("kind", [RecursionError, MemoryError])
@pytest.mark.parametrize("hidden", [False, True], ids=["", "hidden"])
def test_an_error_of_the_interpreter_never_looks_like_the_end_of_a_stream(kind: type[Exception], hidden: bool) -> None:
    def fail(_item: int) -> int:
        raise kind("out of something")

    source: Flowable[Any] = Flowable.range(3)
    flow = (source.hide() if hidden else source).map(fail).flat_map_iterable(lambda item: (item,))
    try:
        got = signals(flow)
    except kind:
        return
    assert [type(signal) for signal in got] == [kind]


@pytest.mark.parametrize("source", [Flowable.of(1, 2), Flowable.range(2).map(str)], ids=["given", "emitted"])
def test_where_the_subscribers_error_cannot_even_be_told_from_the_sources_it_is_raised(
    source: Flowable[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was signalled as the source's, to a subscriber that had left: as a late error, which only the log at DEBUG shows."""

    def no_stack(_run: object, _error: BaseException) -> None:
        raise RecursionError("too deep")

    def leave(_item: object) -> None:
        got.cancel()
        raise RecursionError

    monkeypatch.setattr(Op, "emit_failed", no_stack)
    got: TestSubscriber[Any] = TestSubscriber(on_value=leave, request=2)
    with pytest.raises(RecursionError, match="too deep"):
        source.subscribe(got)
