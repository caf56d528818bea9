"""What is known of a stage: data that its function was read into, see ``_stages`` and ``_reading``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rx_core import UNBOUNDED

if TYPE_CHECKING:
    import ast

    from rx_fusion.symbols._expression import Structure

StageFunction = Callable[..., Iterator[Any]]

#: From a stage's arguments to what its requests mean: (*arguments) -> (n -> how many to ask upstream for). One per subscription.
RequestRule = Callable[..., Callable[[int], int]]


class StageError(TypeError):
    """A function cannot be a stage; the message names it, the line, and what to write instead."""


class Stage(NamedTuple):
    """What is known of one stage function."""

    function: StageFunction
    #: The operator's name as users write it: the function's without the underscore that keeps it from hiding a builtin, or what
    #: the decorator says, where several stages make up one operator.
    name: str
    parameters: tuple[str, ...]
    #: The three parts, or None where the source text is not available: then the function itself runs.
    prologue: list[ast.stmt] | None
    loop: ast.For | None
    epilogue: list[ast.stmt] | None
    #: More than one item may come from one: a loop around a yield, or several yields in a row.
    expands: bool
    #: Items may come before the first one of the source, or after the last.
    head_yields: bool
    tail_yields: bool
    #: Items come only at the end.
    reduces: bool
    #: May end the stream before the source does.
    stops: bool
    #: Says with its last item that it is the last, in its loop or behind it; only compiled code can.
    marks: bool
    #: Some items give none.
    drops: bool
    #: At most one item comes after the source's last.
    single_tail: bool
    #: Its one item after the source's last comes only where there was none: default_if_empty. So none for one, or one for one.
    fills: bool
    #: What downstream's requests mean upstream, where it is not the same number.
    request: RequestRule | None
    #: Checks what the stage before it gives, and is never parted from it.
    guard: bool
    #: The variables, each a list or a deque, in which items wait that are the source's still; None: not known. See do_on_discard.
    keeps: tuple[str, ...] | None
    #: What it gives in its loop is the item that came, or nothing: one that it does not give, it leaves out.
    looks: bool
    #: Something that can fail or be noticed comes after a yield, when the item was given already.
    works_after: bool
    #: Its arguments, and those of its variables that only ever count: asking how they compare cannot fail.
    counters: frozenset[str]
    #: Where this is a stage made for certain expressions: what was written in, one per parameter, and the names of constants.
    symbols: tuple[Structure | None, ...] = ()
    constants: tuple[str, ...] = ()

    @property
    def step(self) -> Step:
        """What this stage is found by."""
        return Special(self.function, self.symbols) if self.symbols else self.function

    @property
    def compilable(self) -> bool:
        return self.loop is not None

    @property
    def wants_all(self) -> bool:
        """Whatever is requested of it, it asks for the whole source."""
        return self.reduces or self.request is everything

    @property
    def gives_one(self) -> bool:
        """It gives one item and knows what that needs, so it asks when it is subscribed, as a Single does."""
        return self.reduces or self.request in _OF_ONE

    @property
    def uncompiled(self) -> str:
        """Why it is not compilable."""
        around = self.function.__code__.co_freevars
        return f"uses {', '.join(around)} of the function around it" if around else "has no source text to compile"

    @property
    def one_to_at_most_one(self) -> bool:
        return not (self.expands or self.head_yields or self.tail_yields)


_OF_ONE: Final[set[RequestRule]] = set()


def of_one(rule: RequestRule) -> RequestRule:
    """The request rule of a stage that gives one item: it says what that needs, whatever is requested."""
    _OF_ONE.add(rule)
    return rule


@of_one
def everything(*_arguments: object) -> Callable[[int], int]:
    """The request rule of a stage that looks at the whole source for one item, though it may know that item before the end.

    One that gives nothing before the end needs no rule: it asks for everything anyway.
    """
    return _all_of_it


def _all_of_it(_n: int) -> int:
    return UNBOUNDED


class Special(NamedTuple):
    """A stage for arguments that are expressions of these structures."""

    function: StageFunction
    symbols: tuple[Structure | None, ...]


#: A stage as shapes name it.
Step = StageFunction | Special


def refused(function: FunctionType, node: ast.AST | None, why: str) -> StageError:
    line = getattr(node, "lineno", function.__code__.co_firstlineno)
    return StageError(
        f"stage {function.__qualname__}() {why}.\n"
        f"  at {function.__code__.co_filename}:{line}\n"
        f"  Form:  def name(source, argument):  before... / for item in source: ... yield x ... / after...\n"
        f"  What does not fit this form is a coordinating operator; see docs/guides/writing-operators.md"
    )
