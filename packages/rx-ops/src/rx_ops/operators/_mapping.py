"""What operators with a mapper to sources share: calling it, refusing what is no source, pulling what need not be subscribed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rx_core import UNBOUNDED, FlowableBase, ObservableBase, name_of, unwrap_stop, user_error
from rx_core.streams import Failed, Stream, computed
from rx_fusion._shapes import HOT_RUNS, tell_hot, when_hot
from rx_fusion._source_run import failing

if TYPE_CHECKING:
    from rx_core.streams import Op

T = TypeVar("T")


class Named:
    """A mapper of an operator that another one runs: messages show the name that the user wrote."""

    __slots__ = ("mapper", "name")

    def __init__(self, name: str, mapper: Callable[..., Any]) -> None:
        self.name = name
        self.mapper = mapper

    def __call__(self, item: Any) -> Any:
        return self.mapper(item)


class NamedOne(Named):
    """The same, of a Single or a Maybe (``kind``): what the mapper makes has one item at most."""

    __slots__ = ("kind",)

    def __init__(self, name: str, mapper: Callable[..., Any], kind: str) -> None:
        self.name = name
        self.mapper = mapper
        self.kind = kind

    def __call__(self, item: Any) -> Any:
        made = self.mapper(item)
        if not getattr(made, "_without_demand", False):  # else it is of one item, and ours
            refused = not_one(self.name, self.mapper, made, self.kind)
            if refused is not None:
                raise refused
        return made


def named(operator_name: str, mapper: Callable[..., Any]) -> tuple[str, Callable[..., Any]]:
    """The name that messages show, and the user's function."""
    return (mapper.name, mapper.mapper) if isinstance(mapper, Named) else (operator_name, mapper)


def mapper_failure(operator_name: str, mapper: Callable[..., Any], error: BaseException) -> Exception:
    """The signal for what ``mapper`` raised, with a note that names the operator. For use in ``except``."""
    operator_name, mapper = named(operator_name, mapper)
    failure = user_error(operator_name, mapper, error)
    if failure is not error and isinstance(error, GeneratorExit):
        failure.__cause__ = error
        error = failure
    trace = error.__traceback__
    if trace is not None:
        error.__traceback__ = trace.tb_next  # without the frame of the operator, which would keep it
    assert isinstance(error, Exception)
    return error


def as_error(error: Exception) -> Exception:
    """What a user's function raised that was called through ``user_call``, its StopIteration included."""
    original = unwrap_stop(error)
    return original if isinstance(original, Exception) else error


#: Operators that have an item of a plain value as ``map`` has it.
_MAPPING: Final = frozenset((
    *("flat_map", "concat_map", "concat_map_eager", "switch_map", "exhaust_map"),
    *("flat_map_publisher", "flat_map_observable", "flat_map_single", "flat_map_maybe"),
))  # fmt: skip


def not_a_source(operator_name: str, mapper: Callable[..., Any], made: Any) -> TypeError | None:
    """The error for what ``mapper`` returned if it is no source, with both calls shown."""
    if isinstance(made, Stream) or hasattr(made, "subscribe"):
        return None
    operator_name, mapper = named(operator_name, mapper)
    function = name_of(mapper)
    if isinstance(made, CoroutineType):
        made.close()  # nothing will await it
    if operator_name not in _MAPPING:
        right = f".{operator_name}(lambda ...: Flowable.just(...))   # a function that returns a source"
    elif isinstance(made, Awaitable):
        right = f".compose(rx_asyncio.map_async({function}))   # or rx_trio's in trio"
    elif made is not None and hasattr(made, "__iter__"):
        right = f".flat_map_iterable({function})   # plain iterables need no {operator_name}"
    else:
        right = f".map({function})   # for a plain value"
    return TypeError(
        f"{operator_name}() expected a function returning a publisher, but {function} returned {made!r}.\n"
        f"  Wrong:  .{operator_name}({function})\n  Right:  {right}"
    )


def not_one(operator_name: str, function: Callable[..., Any], made: object, kind: str) -> TypeError | None:
    """The error for a source of several items that ``function`` has made for a Single or a Maybe. Other kinds may have them."""
    if kind not in ("Single", "Maybe") or not isinstance(made, (FlowableBase, ObservableBase)):
        return None
    name = name_of(function)
    several = "Flowable" if isinstance(made, FlowableBase) else "Observable"
    first = "first()" if kind == "Single" else "first_element()"
    right = f"  Right:  .{operator_name}(lambda ...: {name}(...).{first})"
    if operator_name == "flat_map":
        right += f"\n  Or:     .flat_map_{'publisher' if several == 'Flowable' else 'observable'}({name})   # all of its items"
    return TypeError(
        f"{operator_name}() of a {kind} expected a function returning a {kind}, but {name} returned the {several} {made!r}, "
        f"which may give several items.\n{right}"
    )


#: How many inner sources were looked at, until the program counts as hot.
_inner_sources: Final = count()


def pulled(source: Any, op: Op[Any], demand: int) -> Iterator[Any] | None:
    """The items of an inner source that need not be subscribed: a passive one; or, where everything is wanted, a loop."""
    if not isinstance(source, Stream):
        return None
    if when_hot and next(_inner_sources) > HOT_RUNS:
        tell_hot()
    items: Iterator[Any] | None = source._passive_items(op)
    if items is None and demand == UNBOUNDED:
        items = source._loop_items(op)
    return items


def opened(source: Any, op: Any, demand: int) -> Iterator[Any] | None:
    """The same for an operator that has the attributes of a pump: where not all is wanted, they say how its end is known."""
    if demand == UNBOUNDED or not isinstance(source, Stream):
        return pulled(source, op, demand)
    if when_hot and next(_inner_sources) > HOT_RUNS:
        tell_hot()
    op.hint = None
    if not source._passive_into(op):
        return None
    hint = op.hint
    items: Iterator[Any] = op.items
    if hint is None or hint():
        return items
    made = computed(items)  # known to be empty: that needs no demand
    return failing(made.take()) if isinstance(made, Failed) else made
