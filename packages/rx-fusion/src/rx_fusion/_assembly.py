"""Assembly: a pipeline is three things that do not change, and each operator makes another one of them.

They are the head (the source), a shape (which stages follow, interned) and the stages' arguments. Streams are assembled again and
again, often once for each item of another one, so the steps below are written out where a call would cost as much as they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rx_core import build_places, check_callable, hooks
from rx_core.streams import Stream
from rx_fusion._build_lines import remember
from rx_fusion._forms import Feed
from rx_fusion._heads import Head, IterableHead
from rx_fusion._notes import calls
from rx_fusion._run_names import run_name
from rx_fusion._shapes import ROOT, Shape
from rx_fusion._stage import StageFunction
from rx_fusion._stages import stage_of
from rx_fusion.symbols._expression import Expression
from rx_fusion.symbols._symbol import Symbol

T_co = TypeVar("T_co", covariant=True)
AssemblyT = TypeVar("AssemblyT", bound="Assembly[Any]")

_new = object.__new__
_NO_HEAD: Final[Any] = ...
_SYMBOLIC: Final = frozenset((Symbol, Expression))
#: What is a function and no symbol, to be seen at once.
_FUNCTIONS: Final = frozenset((FunctionType, BuiltinFunctionType, MethodType, MethodDescriptorType, type, partial))
_CLEAN: Final = Feed.CLEAN


class Assembly(Stream[T_co]):
    """The triple, and how it grows. Immutable; one object per step."""

    __slots__ = ("__weakref__", "_args", "_head", "_shape")

    #: What an operator applied to this makes; the class itself unless it says otherwise (a group becomes a plain stream).
    #: Its objects are the triple: they are made without ``__init__``.
    _face: ClassVar[type[Any]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "_face" not in cls.__dict__:
            cls._face = cls

    if TYPE_CHECKING:

        def __init__(self, head: Head = _NO_HEAD, shape: Shape = ROOT, args: tuple[Any, ...] = ()) -> None:
            self._head = head
            self._shape = shape
            self._args = args

    else:  # what is no head is for a person to read, and for a type checker none of the arguments

        def __init__(self, head=_NO_HEAD, shape=ROOT, args=(), *more, **named) -> None:
            if more or named or not isinstance(head, Head):
                given = (head, shape, args)
                rest = next((at for at, default in enumerate((_NO_HEAD, ROOT, ())) if given[at] is default), 3)
                raise self._begun_wrongly(*given[:rest], *more, *named.values())
            self._head = head
            self._shape = shape
            self._args = args

    @classmethod
    def _begun_wrongly(cls, *given: object) -> TypeError:
        """The error for a class that was called with something else than a head, by its user perhaps."""
        return TypeError(f"{cls.__name__}() is made of a head, got {given!r}")

    @property
    def _written(self) -> str:
        return getattr(self._head, "_written", "")

    @property
    def _discarding(self) -> object:
        """What is told of items that this throws away, where it stands in front of do_on_discard."""
        return None

    @property
    def _run_name(self) -> str | None:
        return run_name(self._head, self._shape, self._args)

    def _then(self, stage: StageFunction, *args: Any) -> Any:
        """This pipeline with one more stage."""
        shape = self._shape
        for arg in args:
            if type(arg) in _SYMBOLIC:
                shape, args = shape.then_with(stage, args)
                break
        else:
            try:
                shape = shape._children[stage]
            except KeyError:
                shape = shape.then(stage)
        made = _new(self._face)  # a face holds the three and nothing else: half the price of a call
        made._head = self._head
        made._shape = shape
        made._args = self._args + args
        return made if hooks.on_assembly is None else _assembled(made)

    def _calling(self, stage: StageFunction, function: Callable[..., Any]) -> Any:
        """The same for a stage whose only argument is a function, as of most steps: nothing else is looked at here.

        TypeError, with the names of the stage and of its argument, for what cannot be called.
        """
        if type(function) is not FunctionType and type(function) not in _FUNCTIONS:  # a symbol, an object with __call__, mistakes
            return self._then(stage, _callable(stage, function))
        made = _new(self._face)
        made._head = self._head
        try:
            made._shape = self._shape._children[stage]
        except KeyError:
            made._shape = self._shape.then(stage)
        made._args = self._args + (function,)  # noqa: RUF005  # a third of the price, and keeps what BuiltArgs knows
        return made if hooks.on_assembly is None else _assembled(made)

    def _counting(self, stage: StageFunction, count: int) -> Any:
        """The same for a stage whose only argument is a number, ``take(3)``: that is no symbol either."""
        made = _new(self._face)
        made._head = self._head
        try:
            made._shape = self._shape._children[stage]
        except KeyError:
            made._shape = self._shape.then(stage)
        made._args = self._args + (count,)  # noqa: RUF005  # as above
        return made if hooks.on_assembly is None else _assembled(made)

    def _into(self, face: type[AssemblyT], stage: StageFunction, *args: Any) -> AssemblyT:
        """The same, as another reactive type: ``count`` makes a Single of a Flowable."""
        shape = self._shape
        for arg in args:
            if type(arg) in _SYMBOLIC:
                shape, args = shape.then_with(stage, args)
                break
        else:
            try:
                shape = shape._children[stage]
            except KeyError:
                shape = shape.then(stage)
        made = _new(face)
        made._head = self._head
        made._shape = shape
        made._args = self._args + args
        return made if hooks.on_assembly is None else _assembled(made)

    def _calling_into(self, face: type[AssemblyT], stage: StageFunction, function: Callable[..., Any]) -> AssemblyT:
        """Both: a stage whose only argument is a function, and another type."""
        if type(function) is not FunctionType and type(function) not in _FUNCTIONS:
            return self._into(face, stage, _callable(stage, function))
        made = _new(face)
        made._head = self._head
        try:
            made._shape = self._shape._children[stage]
        except KeyError:
            made._shape = self._shape.then(stage)
        made._args = self._args + (function,)  # noqa: RUF005  # as above
        return made if hooks.on_assembly is None else _assembled(made)

    def _as(self, face: type[AssemblyT]) -> AssemblyT:
        """The same items under another type."""
        made = _new(face)
        made._head = self._head
        made._shape = self._shape
        made._args = self._args
        return made

    @classmethod
    def _from(cls, head: Head) -> Any:
        """A pipeline that starts at ``head``."""
        made = _new(cls._face)
        made._head = head
        made._shape = ROOT
        made._args = ()
        return made if hooks.on_assembly is None else _assembled(made)

    @classmethod
    def _known(cls, name: str, items: Iterable[Any], feed: Feed = _CLEAN) -> Any:
        """A pipeline of items that are known: what inner streams are most often, made without further calls."""
        head = _new(IterableHead)
        head.name = name
        head._items = items
        head._text = None
        head.feed = feed
        made = _new(cls._face)
        made._head = head
        made._shape = ROOT
        made._args = ()
        return made if hooks.on_assembly is None else _assembled(made)

    def __repr__(self) -> str:
        return f"{self._head!r}{calls(self._shape.stages, self._args)}"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self._head, self._shape, self._args)


def _callable(stage: StageFunction, function: Callable[..., Any]) -> Callable[..., Any]:
    known = stage_of(stage)
    check_callable(known.name, known.parameters[0], function)
    return function


def _assembled(made: AssemblyT) -> AssemblyT:
    if build_places.remembering:
        remember(made)
    hook = hooks.on_assembly
    if hook is None:
        return made
    replaced = hook(made)
    if not isinstance(replaced, type(made)):
        kind = type(made).__name__
        raise TypeError(f"an rx_on_assembly hook returned {replaced!r} for {made!r}, which is no {kind}")
    return replaced
