"""Strategies: random pipelines, and random subscribers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from hypothesis import assume
from hypothesis import strategies as st

from rx_core import UNBOUNDED
from rx_ops import OnComplete, OnError, OnNext
from tests.invisible.building import SIDE_BY_SIDE, everything, pushes, waits
from tests.invisible.describe import Fn, Op, Pipeline
from tests.invisible.recording import Script, Step
from tests.invisible.reference import apply, reference
from tests.invisible.trace import Call, End, Trace, items_of

Draw = Callable[[st.SearchStrategy[Any]], Any]

#: Longer meanings are not drawn: a chain of repeats and expansions would go on for hours.
LONGEST: Final = 120

HOWS: Final = ("", "", "", "", "value", "none", "stop", "exit")
ITEMS: Final = st.lists(st.integers(0, 9), max_size=6).map(tuple)
PREDICATES: Final = ("odd", "small", "third")


class Namer:
    """Gives each function of a pipeline a name of its own."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.count = 0

    def fn(self, label: str, *kinds: str, safe: bool = False) -> Fn:
        self.count += 1
        kind = self.draw(st.sampled_from(kinds))
        how = "" if safe else self.draw(st.sampled_from(HOWS))
        on = self.draw(st.integers(0, 4)) if how else 0
        return Fn(f"{label}{self.count}", kind, how, on)


def source(draw: Draw, names: Namer, simple: bool = False) -> Op:
    kinds = ["range", "list", "of", "just", "empty", "error", "logged", "from_callable", "generate"]
    if not simple:
        kinds += ["logged", "foreign", "manual", "created", "unicast", "hidden", "defer", "using", "never"]
    kind = draw(st.sampled_from(kinds))
    if kind == "range":
        return Op(kind, (draw(st.integers(0, 6)),))
    if kind in ("list", "of", "hidden"):
        return Op(kind, draw(ITEMS))
    if kind == "just":
        return Op(kind, (draw(st.integers(0, 9)),))
    if kind == "error":
        return Op(kind, ("broken",))
    if kind == "logged":
        names.count += 1
        items = draw(ITEMS)
        if draw(st.integers(0, 9)) == 9:
            items = (*items, None)
        return Op(kind, (f"source{names.count}", items, draw(st.booleans())))
    if kind in ("foreign", "manual", "created", "unicast"):
        return Op(kind, (draw(ITEMS), draw(st.booleans())))
    if kind == "from_callable":
        return Op(kind, (names.fn("call", "nothing", "total"),))
    if kind == "generate":
        return Op(kind, (names.fn("step", "next", "odd"), draw(st.integers(0, 4))))
    if kind == "defer":
        return Op(kind, (names.fn("defer", "nothing"), pipeline(draw, names, simple=True)))
    if kind == "using":
        names.count += 1
        return Op(kind, (f"resource{names.count}", pipeline(draw, names, simple=True)))
    return Op(kind)


def operator(draw: Draw, names: Namer, trace: Trace, kinds: Sequence[str]) -> Op:
    kind = draw(st.sampled_from(kinds))
    fn = names.fn
    items = items_of(trace)
    number = st.integers(0, 4)
    if kind in ("map", "their_map"):
        return Op(kind, (fn(kind, "next", "half", "odd", "copies", "pair", "latest"),))
    if kind in ("filter", "take_while", "skip_while", "buffer_until", "buffer_before", "buffer_while"):
        return Op(kind, (fn(kind, *PREDICATES),))
    if kind == "distinct_in":
        return Op(kind, (fn(kind, *PREDICATES),))
    if kind == "chunk_by_weight":
        return Op(kind, (draw(st.integers(1, 3)), fn(kind, *PREDICATES)))
    if kind in ("take", "skip", "element_at"):
        return Op(kind, (draw(number),))
    if kind in ("distinct", "distinct_until_changed", "buffer_until_changed"):
        return Op(kind, (fn(kind, *PREDICATES),) if draw(st.booleans()) else ())
    if kind in ("any", "all"):
        return Op(kind, (fn(kind, *PREDICATES),) if draw(st.booleans()) else ())
    if kind == "contains":
        return Op(kind, (draw(st.integers(0, 9)),))
    if kind in ("find_index", "min_by", "max_by"):
        return Op(kind, (fn(kind, *PREDICATES),))
    if kind in ("last", "single"):
        return Op(kind, (draw(number),) if draw(st.booleans()) else ())
    if kind == "average":
        return Op(kind, (fn(kind, "next", "half"),) if draw(st.booleans()) or not all(type(x) is int for x in items) else ())
    if kind == "reduce_with":
        return Op(kind, (fn("supplier", "fresh"), fn("reducer", "total", "latest")))
    if kind in ("min", "max"):
        return Op(kind, (fn(kind, *PREDICATES),) if draw(st.booleans()) or not all(type(x) is int for x in items) else ())
    if kind == "first":
        return Op(kind, (draw(number),) if draw(st.booleans()) else ())
    if kind in ("scan", "reduce"):
        seed = (draw(number),) if draw(st.booleans()) else ()
        return Op(kind, (fn(kind, "total", "latest"), *seed))
    if kind == "collect":
        return Op(kind, (fn("supplier", "fresh"), fn("collector", "append")))
    if kind == "collect_into":
        return Op(kind, (fn(kind, "length", "copies"),))
    if kind in ("to_dict", "to_multimap"):
        return Op(kind, (fn("key", *PREDICATES), fn("value", "next")))
    if kind == "group_reduce":
        return Op(kind, (fn("key", *PREDICATES), fn("value", "half"), fn("reducer", "total")))
    if kind == "group_aggregate":
        return Op(kind, (fn("key", *PREDICATES), fn("value", "half", "total"), fn("other", "next", "maybe")))
    if kind == "sorted":
        return Op(kind, (draw(st.booleans()), *((fn(kind, *PREDICATES, "latest"),) if draw(st.booleans()) else ())))
    if kind == "buffer":
        count = draw(st.integers(1, 3))
        return Op(kind, (count, draw(st.integers(1, 4))) if draw(st.booleans()) else (count,))
    if kind == "windows":
        return Op(kind, (draw(st.integers(1, 3)),))
    if kind == "flat_map_iterable":
        return Op(kind, (fn(kind, "copies", "pair"),))
    if kind in ("of_type", "cast"):
        return Op(kind, (draw(st.sampled_from((int, list, tuple))),))
    if kind == "default_if_empty":
        return Op(kind, (draw(number),))
    if kind == "starmap":
        return Op(kind, (fn(kind, "total", "next"),))
    if kind == "enumerate":
        return Op(kind, (draw(number),))
    if kind == "map_indexed":
        return Op(kind, (fn(kind, "next", "total", "half"),))
    if kind == "filter_indexed":
        return Op(kind, (fn(kind, *PREDICATES),))
    if kind in ("slice", "slice_last"):
        start = st.one_of(st.none(), number) if kind == "slice" else st.integers(-4, -1)
        return Op(kind, (draw(start), draw(st.one_of(st.none(), st.integers(-3, 5))), draw(st.integers(1, 3))))
    if kind == "map_optional":
        return Op(kind, (fn(kind, "next", "maybe", "pair"),))
    if kind == "handle":
        return Op(kind, (fn(kind, "next", "maybe", "odd"),))
    if kind == "scan_with":
        return Op(kind, (fn("supplier", "nothing", "total"), fn(kind, "total", "latest")))
    if kind == "do_on_next":
        return Op(kind, (fn(kind, "next"),))
    if kind in ("do_on_complete", "do_on_error"):
        return Op(kind, (fn(kind, "nothing"),))
    if kind == "start_with":
        return Op(kind, tuple(draw(st.lists(number, max_size=3))))
    if kind in ("concat_with", "merge_delayed", "merge_with", "switch_if_empty", "sequence_equal"):
        return Op(kind, (pipeline(draw, names, simple=True),))
    if kind == "concat":
        return Op(kind, (pipeline(draw, names, simple=True), pipeline(draw, names, simple=True)))
    if kind in ("concat_map", "flat_map"):
        inner = (Op("map", (fn("inner", "next", "half"),)),) if draw(st.booleans()) else ()
        if draw(st.booleans()):
            inner = (*inner, Op(draw(st.sampled_from(("take", "skip"))), (draw(number),)))
        return Op(kind, (fn(kind, "third", "odd"), *inner))
    if kind in ("zip_with", "zipped_with"):
        return Op(kind, (pipeline(draw, names, simple=True), fn("combiner", "total", "latest")))
    if kind == "repeat":
        return Op(kind, (draw(st.integers(0, 3)),))
    if kind == "retry":
        return Op(kind, (draw(st.integers(0, 2)), *((fn("when", "agree", "third"),) if draw(st.booleans()) else ())))
    if kind == "on_error_return":
        return Op(kind, (fn(kind, "total", "nothing"),))
    if kind == "on_error_resume_next":
        return Op(kind, (fn(kind, "nothing"), pipeline(draw, names, simple=True)))
    if kind == "counted_groups":
        return Op(kind, (fn(kind, *PREDICATES),))
    if kind == "parallel":
        return Op(kind, (draw(st.sampled_from((1, 2, 3))),))
    if kind == "observe_on":
        return Op(kind, (draw(st.sampled_from((1, 2, 16))),))
    return Op(kind)


#: What is also drawn inside other operators' sources.
SIMPLE: Final = (
    *("map", "filter", "take", "skip", "take_while", "skip_while", "distinct", "distinct_until_changed", "scan"),
    *("flat_map_iterable", "buffer", "element_at", "first", "reduce", "do_on_next", "do_on_complete", "default_if_empty"),
    *("any", "all", "find_index", "last_element"),
)  # fmt: skip

STAGES: Final = (
    *SIMPLE,
    *("collect", "collect_into", "to_list", "to_dict", "count", "sum", "min", "max", "ignore_elements", "group_reduce"),
    "group_aggregate",
    *("sorted", "their_pairwise", "enumerate", "map_indexed", "filter_indexed", "slice", "slice_last", "map_optional"),
    *("handle", "scan_with"),
    *("of_type", "cast", "starmap", "pairwise", "contains", "is_empty", "last", "single", "single_element", "reduce_with"),
    *("chunk_by_weight", "sample_reservoir", "distinct_in"),
    *("average", "min_by", "max_by", "to_multimap", "buffer_until", "buffer_before", "buffer_while", "buffer_until_changed"),
)  # fmt: skip

ALL: Final = (
    *STAGES,
    *("hide", "their_map", "their_pass", "do_finally", "concat_with", "start_with", "concat", "concat_map", "flat_map"),
    *("merge_delayed", "merge_with", "zip_with", "zipped_with", "amb_with", "switch_if_empty", "repeat", "retry"),
    *("on_error_return", "on_error_resume_next", "do_on_error", "materialize", "dematerialize", "windows", "counted_groups"),
    *("observe_on", "subscribe_on", "parallel", "sequence_equal"),
)  # fmt: skip


#: Operators that make sources of items.
FLATTENING: Final = frozenset(("concat_map", "flat_map", "windows", "counted_groups"))


def fails(pipeline: Pipeline) -> bool:
    return any(isinstance(event, End) and event.error is not None for event in reference(pipeline))


def fits(op: Op, made: Pipeline, trace: Trace) -> bool:
    """Whether the operator means something exact behind ``trace``."""
    items = items_of(trace)
    end = trace[-1] if trace else None
    if op.name in SIDE_BY_SIDE and any(waits(part) for part in everything(Pipeline(made.source, (*made.ops, op)))):
        return False  # where somebody waits, which source is first is nobody's to say
    if op.name in ("flat_map", "windows", "counted_groups") and fails(Pipeline(made.source, (*made.ops, op))):
        return False  # they run their inner sources ahead of demand: an error overtakes what waits
    if op.name in FLATTENING and any(pushes(part, polled=False) for part in everything(made)) and fails(made):
        return False  # an error of the source ends the stream at once: which items that wait it overtakes is a matter of windows
    if op.name == "scan_with" or (op.name == "scan" and len(op.args) > 1):
        # An error overtakes the seed while that is not requested: of a source that fails when it is subscribed, or for an item
        # that a source has pushed.
        if isinstance(end, End) and end.error and not items:
            return False
        if any(pushes(part, polled=False) for part in everything(made)) and fails(Pipeline(made.source, (*made.ops, op))):
            return False
    if (
        op.name in ("collect", "scan_with", "reduce_with") and op.args[0].how
    ):  # of two failures at subscribing either may come first
        return not any(isinstance(event, Call) and event.subscribing for event in trace)
    if op.name == "sum":
        return all(isinstance(x, int) for x in items)
    if op.name == "starmap":
        return all(isinstance(x, tuple) for x in items)
    if op.name == "dematerialize":
        return all(isinstance(x, (OnNext, OnError, OnComplete)) for x in items)
    if op.name == "merge_with":  # an error may overtake the items of another source: only then is it not exact
        return all(isinstance(last, End) and last.error is None for last in (end, *reference(op.args[0])[-1:]))
    if op.name in ("zip_with", "zipped_with", "sequence_equal"):
        if any(isinstance(last, End) and last.error for last in (end, *reference(op.args[0])[-1:])):
            return False  # an error overtakes the items of its source that wait for the other one
    if op.name in ("merge_delayed", "concat", "concat_with", "zip_with", "zipped_with", "sequence_equal"):
        return isinstance(end, End)
    return True


def pipeline(draw: Draw, names: Namer, *, simple: bool = False, most: int = 12, often: str | None = None) -> Pipeline:
    made = Pipeline(source(draw, names, simple))
    trace = reference(made)
    kinds = SIMPLE if simple else ALL if often is None else (*ALL, *(often,) * len(ALL))
    for _ in range(draw(st.integers(0 if simple else 1, 2 if simple else most))):
        op = operator(draw, names, trace, kinds)
        if fits(op, made, trace) and len(longer := apply(op, trace)) <= LONGEST:
            made, trace = Pipeline(made.source, (*made.ops, op)), longer
    return made


@st.composite
def pipelines(draw: Draw, often: str | None = None) -> Pipeline:
    """Pipelines of all operators; half of those that are tried for them are ``often``, where that is given."""
    return pipeline(draw, Namer(draw), often=often)


@st.composite
def stage_pipelines(draw: Draw) -> Pipeline:
    """Stages over a source that is iterated: what fuses into one loop, and where nothing may happen ahead of demand."""
    names = Namer(draw)
    made = Pipeline(source(draw, names, simple=True))
    assume(made.source.name != "error")  # it fails without being asked
    trace = reference(made)
    for _ in range(draw(st.integers(1, 12))):
        op = operator(draw, names, trace, SIMPLE)
        if fits(op, made, trace) and len(longer := apply(op, trace)) <= LONGEST:
            made, trace = Pipeline(made.source, (*made.ops, op)), longer
    return made


_STEPS: Final = st.lists(
    st.builds(Step, st.one_of(st.integers(1, 4), st.integers(1, 4), st.just(UNBOUNDED)), st.booleans()), min_size=1, max_size=8
).map(tuple)


@st.composite
def scripts(draw: Draw) -> Script:
    """One by one, windows, unbounded and changing; cancelled between requests, from inside on_next, or not."""
    steps = draw(st.one_of(_STEPS, st.integers(1, 12).map(lambda n: (Step(1),) * n), st.just((Step(UNBOUNDED),))))
    again = draw(st.sampled_from((0, 0, 0, 1, 2)))
    how = draw(st.sampled_from(("", "", "in", "after")))
    return Script(
        steps,
        again,
        draw(st.integers(1, 5)) if how == "in" else None,
        draw(st.integers(0, len(steps))) if how == "after" else None,
    )
