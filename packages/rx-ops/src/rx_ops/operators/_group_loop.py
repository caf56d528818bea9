"""group_by directly in front of flat_map, in one loop: each item goes straight through the stages of its group.

The loop may run where flat_map may be pulled: over a passive source, where everything is wanted. As long as the mapper adds
nothing but stages to its groups, an item is a lookup and a call, in the order of the source, as when items are pushed. The first
group to which it does something else, and a source that pushes, hand all the rest over to the two operators in push form: open
groups go on with the state of their stages.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from threading import get_ident
from typing import TYPE_CHECKING, Any, NoReturn, final

from rx_core import OPERATOR_CODES, none_produced, note_way, unwrap_stop, user_error
from rx_core.streams import NULL_SUBSCRIBER, Handover, Stream, close
from rx_fusion import IterableHead, Loop, OperatorHead, Pipeline, PlainFlow, PushHead, Stepped, stages_over
from rx_ops.operators._group import Group, GroupBy, GroupHead, too_many_groups
from rx_ops.operators._loops import RestHead, flat_map_loop, items_left
from rx_ops.operators._mapping import Named, named, not_a_source

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_core.streams import Stopping


def groups_loop(head: OperatorHead, run: Stopping | None) -> Loop | None:
    """The loop of flat_map, over groups or over anything else."""
    source = head.upstream[0]
    if isinstance(source, Pipeline) and type(source._head) is not IterableHead and not head.args[3]:
        groups, shape, _ = source._resolve()
        if isinstance(groups, OperatorHead) and groups.function is GroupBy and not shape:
            outer = groups.upstream[0]
            if not isinstance(outer, Stream):
                return None
            items, looped = outer._passive_items(run), None
            if items is None:
                items, looped = outer._loop_items(run), outer
            return None if items is None else (grouped_items(head, groups, items, run, looped), None, None)
    return flat_map_loop(head, run)


def grouped_items(
    head: OperatorHead, groups: OperatorHead, items: Iterator[Any], run: Stopping | None, looped: Any
) -> Iterator[Any]:
    """The items of the flat_map ``head`` over the groups that ``groups`` makes of ``items``, which are those of ``looped``, where
    that is a loop."""
    key_of, value_of, _, face = groups.args
    name, mapper = named(head.name, head.args[0])
    most = head.args[1]
    op = _RestOfGroups(groups)
    steps: dict[Any, Callable[[Any], Any]] = {}
    opened: list[tuple[Group, Stepped]] = []
    failed: list[Exception] = []  # of one item; a variable for it would make a cycle with its traceback
    try:
        for item in items:
            try:
                key = key_of(item)
                step = steps.get(key)
            except (Exception, GeneratorExit) as error:
                _raise_noted("group_by", key_of, error)
            if value_of is not None:
                try:
                    item = value_of(item)
                except (Exception, GeneratorExit) as error:
                    failed.append(_noted("group_by", value_of, error))
                else:
                    if item is None:
                        failed.append(none_produced("group_by", value_of))
                if failed and step is not None:  # a new group is mapped before it fails
                    raise failed.pop()
            if run is not None and run.stopped:
                return
            if step is None:
                if len(opened) >= most:
                    raise too_many_groups(len(opened), failed.pop() if failed else None)
                group = op.new_group(key, item)
                group_head = GroupHead(group)
                try:
                    made = mapper(face(key, group_head))
                except (Exception, GeneratorExit) as error:
                    _raise_noted(name, mapper, error)
                refused = not_a_source(name, mapper, made)
                if refused is not None:
                    raise refused
                if failed:
                    raise failed.pop()
                if run is not None and run.stopped:
                    return
                stages = stages_over(made, group_head)
                if stages is None or not op.take(group):
                    op.resumed.append((made, group))
                    rest: Any = items_left(head, groups.name, items, looped)
                    items = iter(())  # they belong to the rest now
                    break
                opened.append((group, stages))
                steps[key] = step = stages.step
            try:
                out = step(item)
            except (Exception, GeneratorExit) as error:
                _raise_of_stage(opened, step, error)
            if out is not None:
                yield out
        else:
            for _, stages in opened:
                if run is not None and run.stopped:
                    return
                try:
                    out = stages.finish()
                except (Exception, GeneratorExit) as error:
                    _raise_of_stage(opened, stages.step, error)
                if out is not None:
                    yield out
            return
    except Handover as handover:
        rest = handover.rest
    except Exception as error:
        note_way(unwrap_stop(error), head)
        raise
    finally:
        close(items)
    raise Handover(op.rest(head, rest, opened))


OPERATOR_CODES.add(grouped_items.__code__)


def _noted(operator: str, function: Callable[..., Any], error: BaseException) -> Exception:
    """What is to be raised for ``error``, an Exception or a GeneratorExit of a user's function."""
    failure = user_error(operator, function, error)
    assert isinstance(failure, Exception)
    if failure is not error:
        failure.__cause__ = error
    return failure


def _raise_noted(operator: str, function: Callable[..., Any], error: BaseException) -> NoReturn:
    """Raise what a user's function raised, with its note."""
    failed = [_noted(operator, function, error)]
    del error  # as above: this frame is in the traceback
    raise failed.pop()


def _raise_of_stage(opened: list[tuple[Group, Stepped]], step: Callable[[Any], Any], error: BaseException) -> NoReturn:
    """Raise what a stage raised, with its note."""
    failed = [next(stages for _, stages in opened if stages.step == step).noted(error)]
    del error  # as above
    raise failed.pop()


@final
class _RestOfGroups(GroupBy):
    """The group_by that goes on with the rest of the source. Until then it only makes groups."""

    __slots__ = ("resumed",)

    #: Inner sources of groups that are open, which it emits before it subscribes to the rest of its source.
    resumed: list[tuple[Any, Group]]

    def __init__(self, groups: OperatorHead) -> None:
        super().__init__(NULL_SUBSCRIBER, None, *groups.args)  # type: ignore[arg-type]  # the source comes with the rest
        self.origin = groups
        self.resumed = []

    def new_group(self, key: Any, item: Any) -> Group:
        group = self.main.groups[key] = Group(key, self.main, self)
        group.queue = deque((item,))
        return group

    def take(self, group: Group) -> bool:
        """The loop takes ``group``, as its one subscriber. False: it has one."""
        try:
            group.free.pop()
        except IndexError:
            return False
        group.reserve()
        group.queue.clear()
        return True

    def rest(self, head: OperatorHead, source: Any, opened: list[tuple[Group, Stepped]]) -> PlainFlow[Any]:
        """``head`` over what is left: the groups that are open, and those of ``source``."""
        self.source = source
        resumed = []
        for group, stages in opened:
            group.free.append(True)
            resumed.append((stages.resumed(PlainFlow(GroupHead(group))), group))
        self.resumed = [*resumed, *self.resumed]
        mapper = _Resuming(*named(head.name, head.args[0]))
        return PlainFlow(RestHead(head, (PlainFlow(_RestOfGroupsHead(self)),), (mapper, *head.args[1:])))

    def open(self) -> None:
        main = self.main
        resumed, self.resumed = self.resumed, []
        for stream, group in resumed:
            if not self.stopped:
                main.may_emit(self)  # there were no more than flat_map takes
                main.emitting = get_ident()
                try:
                    self.emit(_Mapped(stream))
                finally:
                    main.emitting = 0
            if group.reserved:
                group.give_up()
            elif group.try_abandon():
                del main.groups[group.key]
        if not self.stopped:
            super().open()


@final
class _RestOfGroupsHead(PushHead):
    """The stream of the groups that are left. Subscribed once."""

    __slots__ = ("op",)
    name = "group_by"

    def __init__(self, op: _RestOfGroups) -> None:
        self.op = op

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        op = self.op
        op.down = subscriber
        op.emit = subscriber.on_next
        op.start()

    def __repr__(self) -> str:
        return repr(self.op.origin)


@final
class _Mapped:
    """In the place of a group: what the mapper made of it."""

    __slots__ = ("stream",)

    def __init__(self, stream: Any) -> None:
        self.stream = stream


@final
class _Resuming(Named):
    """The mapper for groups of which some are mapped."""

    __slots__ = ()

    def __call__(self, item: Any) -> Any:
        return item.stream if type(item) is _Mapped else self.mapper(item)
