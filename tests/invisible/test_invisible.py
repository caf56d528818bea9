"""Fusion is invisible: random pipelines under random subscribers, in every form in which they can run, and as the reference says.

What is compared, for each step of the subscriber (each request, and what follows from it):

* **signals**: exactly the items that are due, in order, and the end after them; nothing after a cancel;
* **demand**: no item more than requested, none less where the source has it; an end when more is wanted than there is. With
  the last item it may come already, and where ``take`` knows of it it has to;
* **calls of user functions**: which, with what, in which order between the items. They are a beginning of what the reference
  does: nothing is computed for items that nobody asked for;
* **threads**: calls are made where the request was made;
* **resources**: users' iterators are closed and resources given back, once; no error is reported twice or to nobody.

Where laziness may differ, because the documentation says so, less is compared:

* Something that needs no demand may compute one item ahead, which then waits (decision 0006). Allowed where a source pushes, a
  wall or a coordinating operator is in the pipeline; not among stages over an iterable.
* Behind a wall a queue may be filled with as much as is requested, or with the window of the operator that reads it. Functions
  before such a place are called at least for what the items need, in order, and never for an element that is not theirs.
* Calls that belong to an end (``do_on_complete``, a handler of errors) may come with the end, before there is demand; those that
  belong to subscribing (``defer``, the supplier of ``collect``) with subscribing or with the first request.
* Where sources run at the same time and one of them may have to wait, which item comes first is nobody's to say; nor is which
  items are overtaken, where an error of the source ends a stream of streams at once. Such pipelines are not drawn.

CI runs the same examples each time. ``RX_NIGHTLY=20000`` draws that many at random and prints the seed at the end;
``RX_SEED`` repeats it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.invisible.building import everything
from tests.invisible.describe import Op, Pipeline, nested
from tests.invisible.drawing import fails, pipelines, scripts, stage_pipelines
from tests.invisible.forms import COLD, HOT, MODES, OFF, TOGETHER, WALLS, blocking_list, first, iterate, observe, run
from tests.invisible.judging import Judge
from tests.invisible.nightly import NIGHTLY, SEED
from tests.invisible.recording import ALL, Got, Recording, Script
from tests.invisible.reference import reference
from tests.invisible.trace import End

Test = TypeVar("Test", bound=Callable[..., None])


def examples(share: float) -> Callable[[Test], Test]:
    """So many of the nightly examples, or of a few hundred that are always the same."""

    def decorate(test: Test) -> Test:
        profile = settings(
            max_examples=max(1, int((NIGHTLY or 800) * share)),
            deadline=None,
            derandomize=not NIGHTLY,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        )
        chosen: Test = pytest.mark.timeout(24 * 3600 if NIGHTLY else 60)(profile(seed(SEED)(test) if NIGHTLY else test))
        return chosen

    return decorate


#: They ask a source that pushes for a window, and its error overtakes what waits in that for a request, as in RxJava; so does the
#: error of a function that runs when an item comes.
WITH_A_WINDOW: Final = ("chunk_by_weight", "flat_map_iterable", "scan", "scan_with")
WHEN_ITEMS_COME: Final = ("chunk_by_weight", "scan", "scan_with")


def is_told_without_requests(pipeline: Pipeline) -> bool:
    """Whether what comes hinges on how much is requested when: the reference here is not told, the one in ``push`` is."""
    for at, op in enumerate(pipeline.ops):
        if op.name in WITH_A_WINDOW:
            before = reference(Pipeline(pipeline.source, pipeline.ops[: at + (op.name in WHEN_ITEMS_COME)]))
            if before and isinstance(before[-1], End) and before[-1].error is not None:
                return False
    inner = (each for op in (pipeline.source, *pipeline.ops) for each in nested(op))
    return all(is_told_without_requests(each) for each in inner)


def may_be_overtaken(pipeline: Pipeline) -> bool:
    """``concat_map`` asks a source that pushes for two items; the error of that overtakes one that waits for a request."""
    inner = (each for op in (pipeline.source, *pipeline.ops) for each in nested(op))
    behind = (made for made, op in zip(pipeline.prefixes(), pipeline.ops, strict=False) if op.name == "concat_map")
    return any(map(fails, behind)) or any(map(may_be_overtaken, inner))


@examples(0.4)
@given(pipelines().filter(is_told_without_requests), scripts())
def test_every_form_does_what_the_reference_says(pipeline: Pipeline, script: Script) -> None:
    seen = {}
    for mode in MODES:
        seen[mode] = run(pipeline, mode, script)
        if not mode.apart or not may_be_overtaken(pipeline):
            Judge(pipeline, mode).check(seen[mode], script)
    # When a stream ends must not depend on how often its shape ran before.
    assert seen[COLD].signals() == seen[HOT].signals()


@examples(0.2)
@given(stage_pipelines(), scripts())
def test_among_stages_nothing_is_computed_ahead(pipeline: Pipeline, script: Script) -> None:
    seen = {}
    for mode in TOGETHER:
        seen[mode] = run(pipeline, mode, script)
        judge = Judge(pipeline, mode)
        assert not judge.poked
        judge.check(seen[mode], script)
    assert seen[COLD].log.entries == seen[HOT].log.entries
    assert seen[COLD].marks == seen[HOT].marks


def can_be_waited_for(pipeline: Pipeline) -> bool:
    """It ends, and nobody has to tell its sources to send."""
    later = ("manual", "observe_on", "subscribe_on", "never")
    trace = reference(pipeline)
    return bool(trace) and isinstance(trace[-1], End) and not any(op.name in later for op in everything(pipeline))


@examples(0.2)
@given(pipelines().filter(can_be_waited_for), st.none() | st.integers(1, 4))
def test_who_waits_sees_the_same(pipeline: Pipeline, leave_after: int | None) -> None:
    """``for x in flow`` with and without a break, blocking_list, the first item alone, and an Observable."""
    for mode in (COLD, HOT, OFF, WALLS):
        Judge(pipeline, mode).check_whole(observe(pipeline, mode, leave_after), leave_after)
        judge = Judge(pipeline, mode, polled=True)
        judge.check_whole(iterate(pipeline, mode, leave_after), leave_after)
        judge.check_result(blocking_list(pipeline, mode))
        judge.check_whole(first(pipeline, mode), 1)


@examples(0.2)
@given(pipelines().filter(is_told_without_requests), scripts(), st.data())
def test_an_operator_that_is_not_ours_changes_nothing_but_speed(pipeline: Pipeline, script: Script, data: st.DataObject) -> None:
    """It is written against the protocol alone, and stands anywhere in the chain."""
    at = data.draw(st.integers(0, len(pipeline.ops)))
    name = data.draw(st.sampled_from(("their_pass", "hide")))
    parted = Pipeline(pipeline.source, (*pipeline.ops[:at], Op(name), *pipeline.ops[at:]))
    whole = items(run(pipeline, HOT, ALL))
    for mode in (COLD, HOT, OFF):
        Judge(parted, mode).check(run(parted, mode, script), script)
        assert items(run(parted, mode, ALL)) == whole


def items(recording: Recording) -> list[Any]:
    return [entry.item for entry in recording.log.entries if isinstance(entry, Got)]
