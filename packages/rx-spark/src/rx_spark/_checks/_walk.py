"""Through a whole pipeline: the part that Spark runs, and all operators behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rx_core.queue_fusion import fusion_enabled
from rx_fusion import IterableHead, OperatorHead, PlainFlow
from rx_fusion._notes import call
from rx_spark._ends._feed_head import FeedHead
from rx_spark._ends._results import HereHead
from rx_spark._pipelines._absorb import PER_ITEM, step_of
from rx_spark._pipelines._head import SparkHead
from rx_spark._pipelines._reasons import Why, why_operator, why_stage
from rx_spark._pipelines._steps import Step, place_of, steps_of

if TYPE_CHECKING:
    from rx_fusion import Head
    from rx_spark._pipelines._calls import Cut

_OFF: Final = Why("is left to itself, because fusion is switched off", "leave RX_FUSION and fusion_off() alone")
_FEW: Final = Why("works on what was delivered", "", ends=True)
_HERE: Final = "is a source of this process"
_INTO_SPARK: Final = "rx_spark.from_iterable(items), or files:  rx_spark.text(paths), rx_spark.parquet(paths)"


class Part(NamedTuple):
    """A part of a pipeline on Spark, with its steps."""

    head: SparkHead
    steps: tuple[Step, ...]


class Walk:
    """The steps of a pipeline, sources first. ``parts`` are those that Spark runs."""

    def __init__(self, flow: Any) -> None:
        self.steps: list[Step] = []
        self.parts: list[Part] = []
        self._pipeline(flow)

    def _pipeline(self, flow: Any) -> _After:
        """Take the steps of one pipeline. Says what is known of the next operator behind it."""
        head, shape, args = flow._resolve()
        after = self._head(head)
        at = 0
        for stage in shape.stages:
            mine = args[at : at + len(stage.parameters)]
            at += len(mine)
            if stage.name and not stage.guard:  # else no user wrote it
                why = why_stage(stage.function)
                if after.behind and (stage.function in PER_ITEM or step_of(stage.function, mine)[1] is not None):
                    remedy = f"put it in front of {after.behind}, where that means the same"
                    why = Why(f"is behind {after.behind}, which runs there", remedy)
                after = self._driver(call(stage.name, mine), why, place_of(stage.name, mine), after)
        return after

    def _head(self, head: Head) -> _After:
        if isinstance(head, SparkHead):
            steps = tuple(steps_of(head))
            self.parts.append(Part(head, steps))
            self.steps += steps
            return _After(head.cut, few=head.gives_few)
        if isinstance(head, FeedHead | HereHead):
            self._pipeline(head.flow)
            reason = f"{'is fed from here, item by item' if isinstance(head, FeedHead) else 'is called here'}: {head.why}"
            self.steps.append(Step(head.target.shown, "driver", reason, "begin on Spark, and keep to what it runs"))
            return _After(None, few=True)
        sources = [self._source(source) for source in _sources(head)]
        if len(sources) == 1 and isinstance(head.upstream[0], PlainFlow):
            return sources[0]  # what stands between operators when fusion is off
        after = sources[0] if len(sources) == 1 else _After(None)
        if isinstance(head, OperatorHead):
            return self._driver(head.shown, why_operator(head.name), place_of(head.name, head.args), after)
        if sources:
            return self._driver(f"{head.name}()", why_operator(head.name), "", after)
        text = repr(head)
        remedy = _INTO_SPARK if isinstance(head, IterableHead) else ""
        self.steps.append(Step(text, "driver", _HERE, remedy))
        return _After(None, behind=text)

    def _source(self, source: Any) -> _After:
        if hasattr(source, "_resolve"):
            return self._pipeline(source)
        self.steps.append(Step(repr(source), "driver", _HERE))
        return _After(None, behind=repr(source))

    def _driver(self, operator: str, why: Why, place: str, after: _After) -> _After:
        """One operator on the driver behind what is there."""
        cut = after.cut
        if not fusion_enabled():
            why = _OFF
        elif cut is not None and cut.operator == operator:
            why = Why(cut.reason, cut.remedy, cut.ends)
        few = after.few or why.ends
        if after.few:
            why = _FEW
        self.steps.append(Step(operator, "driver", why.reason, why.remedy, place, ends=few))
        return _After(None, few, after.behind or operator)


class _After(NamedTuple):
    """What is known behind an operator: why the next one is cut off, whether the result was delivered, and which operator
    was the first on the driver."""

    cut: Cut | None
    few: bool = False
    behind: str = ""


def _sources(head: Head) -> Iterator[Any]:
    upstream: Sequence[Any] = head.upstream
    yield from upstream if hasattr(upstream, "__len__") else ()
