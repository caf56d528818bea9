"""``group_by`` and a reduction of each group, as one shuffle.

Pipelines are data: the mapper of ``group_by(key).flat_map(mapper)`` is called once with a *probe*, a group without
items, and what it returns shows whether it begins by reducing the group. If so, Spark reduces per key; for each key
that comes back the mapper is called again, now with the real key, and the rest of its pipeline runs over the value.
A mapper that looks at the probe's key, subscribes to the probe or does anything else is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from operator import add
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from rx_core import name_of
from rx_core.streams import Failing
from rx_fusion import Feed, Head, IterableHead, OperatorHead, Pipeline, PublisherHead, PushHead, Rule
from rx_fusion._notes import call, calls
from rx_ops import operators, stages
from rx_spark._pipelines._absorb import NUMBERS, StageFunction
from rx_spark._pipelines._calls import Call, Cut
from rx_spark._pipelines._head import SparkHead
from rx_spark._pipelines._reasons import REST_OF_GROUP, why_operator
from rx_spark._plans._plan import GroupReduce
from rx_spark._workers._runner import Kept, Ones, composed, larger, smaller

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_fusion import Shape, Stage

_FLATTENING: Final = (operators.FlatMap, operators.ConcatMap)


def _reduced_groups(head: Head, shape: Shape, args: tuple[Any, ...]) -> tuple[Head, Shape, tuple[Any, ...]] | None:
    absorbed = absorb_groups(head)
    return None if absorbed is None else (absorbed, shape, args)


REDUCED_GROUPS: Final = Rule(
    "reduced_groups",
    "spark.group_by(k).flat_map(g -> g.reduce(f)) = spark.group_reduce(k, f), and what else follows in the group",
    "streaming every item back to reduce it here",
    _reduced_groups,
    heads=("flat_map", "concat_map"),
    again=False,
)


def absorb_groups(head: Head) -> Head | None:
    """``head`` with the groups reduced by Spark; with a note in the plan where that cannot be; None: not about groups."""
    if type(head) is not OperatorHead or head.function not in _FLATTENING:
        return None
    grouped = head.upstream[0]
    if not isinstance(grouped, Pipeline):
        return None
    groups = grouped._head
    if type(groups) is not OperatorHead or groups.function is not operators.GroupBy:
        return None
    source = groups.upstream[0]
    if not isinstance(source, Pipeline) or type(source._head) not in (SparkHead, PublisherHead):
        return None
    spark, rest, _ = source._resolve()
    if not isinstance(spark, SparkHead) or rest or spark.closed:
        return None
    mapper = head.args[0]
    found = "has operators before the groups are mapped" if grouped._shape else _probe(mapper, groups)
    if isinstance(found, str):
        why = f"because {head.name}({name_of(mapper)}) {found}"
        spark = spark.with_cut(Cut(call("group_by", _arguments(groups)), why, why_operator("group_by").remedy))
        left = copy(groups)
        left.upstream = (type(source)(spark),)
        return _with(head, type(grouped)(left, grouped._shape, grouped._args), mapper)
    absorbed = spark.with_group_reduce(
        Call("group_by", ("key", "value"), _arguments(groups), "shuffle"),
        tuple(_calls(found)),
        GroupReduce(groups.args[0], found.value, found.reducer),
    )
    absorbed = absorbed.with_cut(Cut(call(head.name, (mapper,)), *REST_OF_GROUP))
    return _with(head, type(source)(absorbed), _Continued(mapper, groups, found))


def _reduced_part(made: object) -> object:
    """What a mapper made of the group, as far as it is one item: in front of ``to_flowable``."""
    while isinstance(made, Pipeline) and isinstance(made._head, OperatorHead) and made._head.function is operators.ToFlowableOne:
        made = made._head.upstream[0]
    return made


def _replaced(made: Pipeline[Any], part: Pipeline[Any]) -> Pipeline[Any]:
    """``made`` with another part in front of its ``to_flowable``."""
    if _reduced_part(made) is made:
        return part
    head = copy(made._head)
    assert isinstance(head, OperatorHead)
    head.upstream = (_replaced(head.upstream[0], part),)
    return type(made)(head, made._shape, made._args)


def _calls(found: _Reduction) -> Iterator[Call]:
    at = 0
    for stage in found.stages:
        yield Call(stage.name, stage.parameters, found.args[at : at + len(stage.parameters)], "group")
        at += len(stage.parameters)


def _arguments(groups: OperatorHead) -> tuple[Any, ...]:
    """The key and the value function."""
    return groups.args[:2]


def _face(groups: OperatorHead) -> Callable[[Any, Head], Any]:
    """What makes a group of its key and its head."""
    face: Callable[[Any, Head], Any] = groups.args[3]
    return face


def _with(head: OperatorHead, source: Pipeline[Any], mapper: Callable[[Any], Any]) -> OperatorHead:
    made = copy(head)
    made.upstream = (source,)
    made.args = (mapper, *head.args[1:])
    return made


# --- what a mapper does with its group --------------------------------------------------------------------------------


class _Reduction(NamedTuple):
    #: The reduction, and what stands before it, with their arguments.
    stages: tuple[Stage, ...]
    args: tuple[Any, ...]
    #: What Spark makes of an item, and how it combines two of these.
    value: Callable[[Any], Any]
    reducer: Callable[[Any, Any], Any]


def _probe(mapper: Callable[[Any], Any], groups: OperatorHead) -> _Reduction | str:
    """How ``mapper`` begins: with a reduction, maybe of what some stages make of the items; or why that cannot be a shuffle."""
    probe = _Probe()
    try:
        made = mapper(_face(groups)(_Key(probe), probe))
    except Exception as error:
        return "looks at the key itself" if probe.used else f"raises {type(error).__name__} for a group without items"
    if probe.used:
        return "looks at the key or the items itself"
    made = _reduced_part(made)
    if not isinstance(made, Pipeline) or made._head is not probe or not made._shape:
        return "does not begin with a reduction of the group"
    before: list[Callable[[Any], Any] | Kept] = [] if groups.args[1] is None else [groups.args[1]]
    filtered = False
    at = 0
    for index, stage in enumerate(made._shape.stages):
        args = made._args[at : at + len(stage.parameters)]
        at += len(args)
        if stage.function is stages.map_:
            before.append(args[0])
        elif stage.function is stages.filter_:
            before.append(Kept(args[0]))
            filtered = True
        else:
            reduction = _reduction(stage, args, before, filtered)
            if reduction is None:
                return f"begins with {call(stage.name, args)}, which is no shuffle" + (" behind a filter" if filtered else "")
            return reduction._replace(stages=made._shape.stages[: index + 1], args=made._args[:at])
    return "does not reduce the group"


def _reduction(
    stage: Stage, args: tuple[Any, ...], before: list[Callable[[Any], Any] | Kept], filtered: bool
) -> _Reduction | None:
    """What Spark makes of an item and how it combines two, for a reduction behind ``before``. None: that is no shuffle.

    Behind a filter a group may have no items left, and is there all the same: that has a value for ``count`` and ``sum`` alone.
    """
    function: StageFunction = stage.function
    if function is stages.count:
        return _Reduction((), (), Ones(composed(before, ...) if before else None), add)
    if function is stages.sum_ and type(args[0]) in NUMBERS:
        return _Reduction((), (), composed(before, 0), add)
    if filtered:
        return None
    if function is stages.reduce:
        return _Reduction((), (), composed(before), args[0])
    if function is stages.min_:
        return _Reduction((), (), composed(before), smaller)
    if function is stages.max_:
        return _Reduction((), (), composed(before), larger)
    return None


class _Probe(PushHead):
    """The head of a group without items; ``used`` when more was done with it than describe."""

    name = "group"

    def __init__(self) -> None:
        self.used = False

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        try:
            self.touch()
        except RuntimeError as error:
            Failing(subscriber, error, self).start()

    def touch(self, *_args: object, **_options: object) -> NoReturn:
        self.used = True
        raise RuntimeError("a group is being looked at to plan a Spark job: it has neither key nor items yet")

    def __repr__(self) -> str:
        return "group"


class _Key:
    """The key of a probe: can be handed around, and tells its probe when it is looked at."""

    __slots__ = ("_probe",)

    def __init__(self, probe: _Probe) -> None:
        object.__setattr__(self, "_probe", probe)

    def __getattribute__(self, name: str) -> Any:
        object.__getattribute__(self, "_probe").touch()


def _touched(self: _Key, *_args: object) -> NoReturn:
    probe: _Probe = object.__getattribute__(self, "_probe")
    probe.touch()


_SPECIAL = """
    repr str bytes format hash bool eq ne lt le gt ge len iter next contains getitem setitem delitem call reversed
    add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul and rand or ror
    xor rxor lshift rlshift rshift rrshift neg pos abs invert int float complex index round trunc floor ceil divmod
    rdivmod enter exit reduce_ex fspath setattr
"""
for _name in _SPECIAL.split():
    setattr(_Key, f"__{_name}__", _touched)


# --- the rest of the mapper, for each key -----------------------------------------------------------------------------


class _Reduced(PushHead):
    """The head of a group whose items Spark has reduced."""

    name = "group"

    def __init__(self, key: Any) -> None:
        self.key = key

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        error = RuntimeError(
            f"{self!r} was reduced by Spark, its items are not here.\n  To have them on the driver:  .hide().group_by(...)"
        )
        Failing(subscriber, error, self).start()

    def __repr__(self) -> str:
        return f"group({self.key!r})"


class _Continued:
    """The mapper for ``(key, reduced)``: calls the user's with the real key and puts the value where the reduction was."""

    def __init__(self, mapper: Callable[[Any], Any], groups: OperatorHead, reduction: _Reduction) -> None:
        self._mapper = mapper
        self._groups = groups
        self._reduction = reduction
        self.__qualname__ = name_of(mapper)

    def __call__(self, pair: tuple[Any, Any]) -> Pipeline[Any]:
        key, value = pair
        reduced, args, _, _ = self._reduction
        group = _Reduced(key)
        whole = self._mapper(_face(self._groups)(key, group))
        made = _reduced_part(whole)
        size = len(args)
        shown = calls(reduced, args)[1:]
        if (
            not isinstance(made, Pipeline)
            or made._head is not group
            or [each.function for each in made._shape.stages[: len(reduced)]] != [each.function for each in reduced]
            or not all(map(_same, made._args[:size], args))
        ):
            raise RuntimeError(
                f"{self.__qualname__} made {whole!r} of a group, but {shown} of it when the Spark job "
                f"was planned; it has to begin with the same reduction for every group.\n"
                f"  To group on the driver instead:  .hide().group_by({name_of(self._groups.args[0])})"
            )
        if reduced[-1].function is stages.sum_:
            value = args[-1] + value
        _, _, rest, rest_args = made._shape.split(made._args, len(reduced))
        just = IterableHead("just", (value,), f"{group!r}.{shown}", feed=Feed.CLEAN)
        return _replaced(whole, type(made)(just, rest, rest_args))


def _same(first: Any, second: Any) -> bool:
    """Whether two arguments do the same: a lambda or an object made inside the mapper is a new one for each group."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, FunctionType):
        return first.__code__ is second.__code__ and all(map(_same, _held(first), _held(second)))
    if isinstance(first, partial):
        return _same(first.func, second.func) and first.keywords == second.keywords and all(map(_same, first.args, second.args))
    return "__eq__" not in _defined(type(first)) or bool(first == second)


def _defined(kind: type) -> set[str]:
    return {name for each in kind.__mro__[:-1] for name in vars(each)}


def _held(function: FunctionType) -> list[Any]:
    return [*(cell.cell_contents for cell in function.__closure__ or ()), *(function.__defaults__ or ())]
