"""Run the tests of operators once more with fusion switched off: every operator then stands alone.

    python tools/unfused.py [--nightly | pytest arguments]

A second, smaller pass: what takes seconds or races for long is left to the first one, and to ``--nightly``. A test that switches
fusion off by itself, in a form of its own or to compare, has run without it in the first pass. What cannot hold without fusion
is listed here, each with its reason; a line that names no test any more is an error. So a new test runs here as well, unless it
is about fusion itself.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

os.environ["RX_FUSION"] = "off"  # before anything of ours is imported

import pytest

from rx_fusion import fusion_off

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDERS: Final = ("packages/rx-ops/tests", "packages/rx-fusion/tests", "tests/integration")

_OPS = "packages/rx-ops/tests/"
_FUSION = "packages/rx-fusion/tests/"
_ACROSS = "tests/integration/"
_BUSY = _ACROSS + "test_busy_sources.py::"
_BOUNDS = _ACROSS + "test_backpressure.py::"
_ROUNDS = _OPS + "test_repeat.py::"

#: They assert what fusion does. Beginnings of test ids.
ABOUT_FUSION: Final = {
    _OPS
    + "test_observe_on.py::test_the_generator_of_a_synchronous_source_is_closed_on_the_worker": "it is no source of the worker's",
    _FUSION + "test_micro_fusion.py": "the protocol of fusion, which nobody speaks now",
    _FUSION + "test_emitted.py": "a form of compiled stages",
    _FUSION + "test_too_large.py": "functions that are not made; and a hundred operators apart are too deep for Python's stack",
    _FUSION + "test_rules.py": "macro-fusion rules, which are not asked",
    _FUSION + "test_after_a_yield.py::test_an_error_that_nobody_polls_any_more_is_reported": "nobody polls",
    _FUSION + "test_after_a_yield.py::test_polled_steps_give_the_item_before_the_error_after_it": "nobody polls",
    _ACROSS + "test_fusion_rules.py": "macro-fusion rules",
    _ACROSS + "test_nothing_for_the_collector.py": "each stage is a subscriber apart, to which its own subscriber refers",
    _ACROSS + "test_hooks.py::test_each_subscription_is_shown_inner_ones_included": "the source is subscribed apart",
    _ACROSS + "test_hooks.py::test_loops_and_blocking_calls_are_shown_fused_stages_are_not": "stages are subscribed apart",
    _OPS + "test_explained.py::test_a_stage_": "explain says that fusion is off",
    _OPS + "test_explained.py::test_stages_in_front": "explain says that fusion is off",
    _OPS + "test_inner_in_the_loop.py": "inner sources that are part of a loop",
    _OPS + "test_callbacks_pulled.py": "loops for callbacks",
    _OPS + "test_group_ahead.py": "a loop over groups, under demand",
    _OPS + "test_inner_at_hand.py": "inner sources that are iterated where they are",
    _OPS + "test_polled_boundary.py": "boundaries that poll their source",
    _OPS + "test_expand.py::test_each_source_is_given_back_before": "a stream does what is behind its end by itself",
    _OPS + "test_demand.py::test_a_synchronous_source_gives_what_is_requested": "it is asked for a batch, as one that pushes",
    _OPS + "test_eager.py::test_a_synchronous_source_is_read_when_its_turn_has_come": "it is subscribed with the others",
    _OPS + "test_eager.py::test_an_error_of_a_synchronous_source_comes_in_its_turn": "it is subscribed with the others",
    _OPS + "test_like_rxjava.py::test_the_boundary_of_buffer_is_subscribed_before_requests_are_rebatched": "nothing is pulled",
    _OPS + "test_ordered.py::test_a_synchronous_source_is_asked_for_one_item_when_one_is_wanted": "it is asked for a window",
    _BOUNDS + "test_ten_million_elements_are_read_no_further_ahead_than_the_buffers_allow[polled": "not polled",
    _BOUNDS + "test_more_groups_than_flat_map_takes": "a queue is between, which knows no max_concurrency",
    _BOUNDS + "test_a_slow_group_stops_the_source_at_the_bound": "each group has a queue more",
}

#: They run no pipeline, so fusion is nothing to them.
WITHOUT_PIPELINES: Final = {
    _OPS + "test_one_item_generated.py": "reads the types' sources",
    _OPS + "test_observable_generated.py": "reads the types' sources",
    _OPS + "test_operator_modules.py": "looks at imports",
    _ACROSS + "test_wrong_arguments.py": "calls that are refused",
}

#: Differences that should not be, by what can be seen of them.
NOT_YET: Final = {
    _BUSY + "test_a_time_limit_holds_for_a_stream_that_is_busy_without_giving_anything[answering": "flat_map looks at no clock",
    _BOUNDS + "test_the_key_of_a_cancelled_group_comes_again": "all its items are in the queue of the cancelled one by then",
    _ROUNDS + "test_many_rounds_need_no_more_memory_than_some[retry new errors]": "some bytes for each round",
}


def switching_fusion_off(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """The tests that do that by themselves: in their own lines, or by a parameter, with all other values of that parameter."""
    tests = [item for item in items if isinstance(item, pytest.Function)]
    given = {item: item.callspec.params.values() if hasattr(item, "callspec") else () for item in tests}
    functions = {item.function for item in tests if any(value is fusion_off for value in given[item])}
    return {item for item in tests if item.function in functions or fusion_off.__name__ in item.function.__code__.co_names}


class LeavingOut:
    """Deselects what is listed, and by day what has run without fusion in the first pass; notices what is listed in vain."""

    def __init__(self, nightly: bool) -> None:
        self.nightly = nightly
        self.unused = set[str]()

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        listed = (*ABOUT_FUSION, *WITHOUT_PIPELINES, *NOT_YET)
        left_out = [item for item in items if item.nodeid.startswith(listed)]
        self.unused = {each for each in listed if not any(item.nodeid.startswith(each) for item in left_out)}
        if not self.nightly:
            left_out += switching_fusion_off(items) - {*left_out}
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def main(arguments: list[str]) -> int:
    os.chdir(ROOT)
    leaving_out = LeavingOut(nightly=arguments == ["--nightly"])
    chosen = ["-m", "not slow and not stress and not nightly"]
    if arguments == ["--nightly"]:
        arguments, chosen = [], []
    code = int(pytest.main(["-q", *chosen, *(arguments or FOLDERS)], plugins=[leaving_out]))
    if leaving_out.unused and not arguments:
        print("tools/unfused.py lists what is not there:", *sorted(leaving_out.unused), sep="\n  ", file=sys.stderr)
        return code or 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
