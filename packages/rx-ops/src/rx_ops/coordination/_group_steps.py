"""Groups that flat_map subscribes to at once: each item goes straight through the stages of its group.

``group_by(key).flat_map(lambda group: group.map(f).sum())`` needs no queue for a group, and no turns: who takes an item from the
source calls the stages of the group that it belongs to, and gives on what comes out, before it takes the next one. It is so while
everything is wanted, and as long as the mapper makes nothing of its groups but plain stages. At the first group that it makes
something else of, those that are open get their queues, and all goes on in turns.
See docs/decisions/0010-group-by-inside-one-run.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rx_core import OPERATOR_CODES, UNBOUNDED, Items, Lanes, Run, none_produced, traced_as_before, user_call, user_error
from rx_fusion import Pipeline, Stepped, fusion_enabled, stages_over
from rx_ops.coordination._combine import interleave
from rx_ops.coordination._group import Group, GroupByHead, Groups

#: From a run, sources of inner sources and the mapper to the inner sources: the mapping half of flat_map.
Mapped = Callable[[Run, Iterator[Any], Callable[..., Any]], Iterator[Any]]


class Dealt:
    """A group_by that was subscribed to, and the stream of its groups."""

    __slots__ = ("groups", "head", "items")

    def __init__(self, head: GroupByHead[Any, Any, Any]) -> None:
        self.head = head
        #: None: it could not be subscribed to.
        self.groups: Groups[Any, Any, Any] | None = None
        self.items: Items[Any]

    def _rx_open(self, run: Run, window: int, /) -> Items[Any]:
        self.groups = Groups(run, self.head, window)
        return self.groups.stream()


def dealt_by(run: Run, source: object, window: int) -> Dealt | None:
    """Subscribe to ``source`` for :func:`through_groups`, if it is a group_by; else None, and nothing was done."""
    if not isinstance(source, Pipeline) or type(source._head) is not GroupByHead or not fusion_enabled():
        return None
    head, shape, _ = source._resolve()
    if type(head) is not GroupByHead or shape:
        return None
    dealt = Dealt(head)
    dealt.items = run.open(dealt, window)
    return dealt


def through_groups(
    run: Run,
    dealt: Dealt,
    mapper: Callable[..., Any],
    mapped: Mapped,
    lanes: Lanes[Any],
    prefetch: int,
    limit: int,
) -> Items[Any]:
    """flat_map over the groups of ``dealt``."""
    groups = dealt.groups
    if groups is None or run.demand != UNBOUNDED:
        yield from interleave(run, mapped(run, dealt.items, mapper), lanes, prefetch, False, limit)
        return
    root: Any = run.root
    key_of, value_of = groups.key, groups.head.value
    opened: dict[Any, _Open] = {}
    steps: dict[Any, Callable[[Any], Any]] = {}
    turns: Items[Any] | None = None
    try:
        for item in groups.items:
            if item is None:
                yield None
                continue
            try:  # user_call without its frame
                key = key_of(item)
            except (StopIteration, GeneratorExit) as error:
                raise user_error("group_by", key_of, error) from error
            except Exception as error:
                user_error("group_by", key_of, error)
                raise
            if value_of is not None:
                item = user_call("group_by", value_of, item)
                if item is None:
                    raise none_produced("group_by", value_of)
            if root.cancelled:
                return  # by the key function, say
            step = steps.get(key)
            if step is None:
                group = groups.new_group(key)
                made = next(mapped(run, iter((groups.face(key, group),)), mapper), None)
                if made is None or root.cancelled:
                    return
                found = None if group.subscribed or group.kept else stages_over(made, group)
                if found is None:
                    groups.put(group, item)
                    _take_turns(lanes, opened, prefetch)
                    others = mapped(run, dealt.items, mapper)
                    turns = interleave(run, _rest(groups, group, made, others), lanes, prefetch, False, limit)
                    break
                group.subscribed = True
                stages = Stepped(found[0], group, found[1])
                opened[key] = _Open(group, stages)
                steps[key] = step = stages.step
            try:
                out = step(item)
            except (Exception, GeneratorExit) as error:
                opened[key].stages.note(error)
                raise
            if out is not None:
                yield out
            if root.cancelled:
                return  # before somebody's iterator is asked for one more
        if turns is None:
            for at in opened.values():
                if root.cancelled:
                    return
                out = at.given(at.stages.finish)
                if out is not None:
                    yield out
    except Exception as error:
        run.after(traced_as_before(error))
        raise
    finally:
        if turns is None:
            groups.over()
            lanes.close()
    if turns is not None:
        yield from turns


class _Open:
    """A group whose items go through its stages: what it takes to go on in turns."""

    __slots__ = ("group", "stages")

    def __init__(self, group: Group[Any, Any], stages: Stepped) -> None:
        self.group = group
        self.stages = stages

    def _rx_open(self, run: Run, _window: int, /) -> Items[Any]:
        self.group.run = run
        return self._polled(self.group.begin(run))

    def _polled(self, items: Items[Any]) -> Items[Any]:
        for item in items:
            if item is None:
                yield None
                continue
            out = self.given(self.stages.step, item)
            if out is not None:
                yield out
        out = self.given(self.stages.finish)
        if out is not None:
            yield out

    def given(self, function: Callable[..., Any], *item: Any) -> Any:
        try:
            return function(*item)
        except (Exception, GeneratorExit) as error:
            self.stages.note(error)
            raise


OPERATOR_CODES.update((through_groups.__code__, _Open.given.__code__, _Open._polled.__code__))


def _rest(groups: Groups[Any, Any, Any], group: Group[Any, Any], made: object, others: Iterator[Any]) -> Iterator[Any]:
    """What the mapper made of ``group``, whose first item waits, and what it makes of the ``others``."""
    yield made
    if group.left_alone:
        groups.abandon(group)
    yield from others


def _take_turns(lanes: Lanes[Any], opened: dict[Any, _Open], prefetch: int) -> None:
    for at in opened.values():
        lane = lanes.open(at, prefetch)  # type: ignore[arg-type]  # openable
        lanes.ready.pop()
        _ = lane.items  # it has nothing now, and says so when it has
