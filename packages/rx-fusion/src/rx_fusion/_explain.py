"""Plans: how a pipeline will run, as a tree that can be read, tested and shown."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rx_core import DEMAND, UNBOUNDED, Scheduler, hooks
from rx_core.queue_fusion import ANY, ASYNC, NONE, SYNC, fusion_enabled
from rx_core.streams import close, takes_requests
from rx_fusion._forms import Feed
from rx_fusion._heads import Head, IterableHead, shortened
from rx_fusion._loops import inner_loop
from rx_fusion._notes import call
from rx_fusion._operators import OperatorHead
from rx_fusion._source_run import offered

if TYPE_CHECKING:
    from rx_fusion._described import Described
    from rx_fusion._shapes import Shape


class Plan(NamedTuple):
    """One part of a plan: what runs as one piece of code, and what it reads from."""

    title: str
    #: What it says of itself: threads, queues, what did not fuse and why.
    notes: tuple[str, ...]
    children: tuple[Plan, ...]

    def text(self) -> str:
        return "\n".join(self._lines("", ""))

    def _lines(self, first: str, rest: str) -> list[str]:
        lines = [first + self.title]
        bar = "│  " if self.children else "   "
        lines += [f"{rest}{bar}· {note}" for note in self.notes]
        for at, child in enumerate(self.children):
            end = at == len(self.children) - 1
            lines += child._lines(rest + ("└─ " if end else "├─ "), rest + ("   " if end else "│  "))
        return lines

    def html(self) -> str:
        """Nested lists; every text escaped."""
        from html import escape  # its table of entities takes a millisecond to import, for notebooks alone

        notes = "".join(f"<br><small>{escape(note)}</small>" for note in self.notes)
        inner = "".join(child.html() for child in self.children)
        return f"<ul><li><code>{escape(self.title)}</code>{notes}{inner}</li></ul>"


def plan_of(pipeline: Described, inside: bool = False, consumer: Head | None = None) -> Plan:
    """The plan of one pipeline and of all it reads from; ``inside``: as a source of another operator, ``consumer``: of that head.
    Runs nothing."""
    if pipeline._discarding is not None:
        return _reached_plan(pipeline, consumer)
    return _plan_of(pipeline, inside, consumer)


def _reached_plan(pipeline: Described, consumer: Head | None) -> Plan:
    """Of a part in front of do_on_discard, which is by itself; the wall to the one before it is no news then."""
    plan = _plan_of(pipeline, True, consumer)
    said = (*plan.notes, f"what it throws away: {pipeline._discarding!r}")
    children = plan.children
    if pipeline._shape:
        children = (plan_of(pipeline._head.publisher, True, pipeline._head),)
    return Plan(plan.title, said, children)


def _plan_of(pipeline: Described, inside: bool, consumer: Head | None) -> Plan:
    head, shape, args = pipeline._head, pipeline._shape, pipeline._args
    rewritten: tuple[str, ...] = ()
    if fusion_enabled():
        head, shape, args = pipeline._resolve()
        applied = pipeline._rules_applied()
        rewritten = (f"rewritten: {', '.join(applied)}",) if applied else ()
    if (counts := hooks.counts_of and hooks.counts_of(pipeline)) is not None:
        rewritten = (*rewritten, f"counted: {counts}")
    below = tuple(shortened(head.upstream, partial(_source_plan, consumer=head), _left_out))
    names = _stage_calls(shape, args)
    if isinstance(head, IterableHead):
        return Plan(" → ".join([repr(head), *names]), (_fusion(head, shape), *rewritten, *head.notes()), below)
    looped = (_LOOPED,) if not inside and loops(pipeline) else ()
    own = head.notes() if consumer is None or names else head.notes_before(consumer)
    notes = [*rewritten, *_head_notes(head), *own, *looped]
    title = head.shown if isinstance(head, OperatorHead) else _own_text(head)
    source = Plan(title, tuple(notes), below)
    if not names:
        return source
    if head.publisher is None:
        # the stages run in the operator's own loop
        return Plan(" → ".join([title, *names]), (_fusion(head, shape), *notes), below)
    return Plan(" → ".join(names), (_fusion(head, shape, takes_requests(pipeline)),), (source,))


def offer_of(pipeline: Described) -> str:
    """What a run grants a consumer that asks to poll it, and why not more."""
    if not fusion_enabled():
        return "nothing, fusion is switched off"
    modes, reason = offered(*pipeline._resolve())
    granted = {NONE: "nothing", SYNC: "SYNC polling", ASYNC: "ASYNC polling", ANY: "polling"}[modes & ANY]
    return f"{granted}, {reason}" if reason else f"{granted}, across threads too"


def _source_plan(source: Any, consumer: Head) -> Plan:
    if hasattr(source, "_head"):
        return plan_of(source, consumer.publisher is None or isinstance(consumer, OperatorHead), consumer)
    return Plan(repr(source), ("not ours: through its protocol",), ())


def _left_out(count: int) -> Plan:
    return Plan(f"... {count:,} more ...", (), ())


def _stage_calls(shape: Shape, args: tuple[Any, ...]) -> list[str]:
    out, at = [], 0
    for stage in shape.stages:
        size = len(stage.parameters)
        if not stage.guard and stage.name:  # else it was not written
            out.append(call(stage.name, args[at : at + size]))
        at += size
    return out


def _own_text(head: Head) -> str:
    return head.name if head.upstream else repr(head)


def _fusion(head: Head, shape: Shape, asked: bool = True) -> str:
    if not fusion_enabled():
        return "not fused: fusion is switched off, each operator runs alone"
    plain = [f"{stage.name} {stage.uncompiled}" for stage in shape.stages if not stage.compilable]
    if plain:
        return f"stacked generators: {', '.join(dict.fromkeys(plain))}"
    size = sum(bool(stage.name) and not stage.guard for stage in shape.stages)
    count = f"{size} stage{'s' * (size != 1)}"
    if head.publisher is not None:
        stages = f"fused: {count}"
        if not shape.steps:
            front = shape.front()
            first = 0 if front is None else sum(not stage.guard for stage in front.stages.stages)
            last = sum(not stage.guard for stage in shape.stages[shape.parted :]) if shape.parted and asked else 0
            looped = size - first - last
            stages = f"{looped} stage{'s' * (looped != 1)}"
            if first:
                stages = f"{first} stage{'s' * (first != 1)} in one call per item, {looped}"
            text = f"fused: {stages} in one loop behind a queue that is filled on demand"
            return f"{text}, {last} behind that" if last else text
        return f"{stages} in one call per item, pushed through, no queue"
    if not shape:
        return "synchronous source, no queue"
    if head.feed is Feed.RUNNING:
        return f"fused: {count} in one loop behind {head.name}"
    return f"fused: source and {count} in one loop, no queue"


#: Said once, of the outermost of several.
_LOOPED = "for callbacks and a thread that waits: one loop with its source and its inner sources, until one of these has to wait"

_UNCOUNTED = {DEMAND: "what downstream requests", UNBOUNDED: "whatever it is ahead"}


def _head_notes(head: Head) -> list[str]:
    notes = []
    if head.scheduler is not None:
        notes.append(f"thread: a worker of {head.scheduler!r}")
    if isinstance(head, OperatorHead):
        clock = next((each for each in head.args if isinstance(each, Scheduler)), None)
        if clock is not None and head.scheduler is None and not head.options.said:
            notes.append(f"thread: what is due comes on a worker of {clock!r}")
        queued = [source for source in head.upstream if _needs_queue(source)]
        if queued:
            bound = _UNCOUNTED.get(head.window, f"{head.window} items")
            notes.append(f"queue: {bound}, for each source that pushes")
    return notes


def _needs_queue(source: object) -> bool:
    head = getattr(source, "_head", None)
    return head is None or head.publisher is not None or head.scheduler is not None


def loops(pipeline: Described) -> bool:
    """Whether a thread that waits iterates ``pipeline`` in one loop with its source. Nothing runs."""
    head = pipeline._head
    if isinstance(head, IterableHead):
        return isinstance(pipeline._resolve()[0], IterableHead)
    found = inner_loop(head, None)
    if found is None:
        return False
    close(found[0])  # a generator that was never started runs nothing
    return True
