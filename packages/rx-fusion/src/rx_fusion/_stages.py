"""Stages: synchronous operators, each defined by one generator function.

::

    @stage
    def filter_(source: Iterable[T], predicate: Callable[[T], object]) -> Iterator[T]:
        for item in source:
            if predicate(item):
                yield item

The function is the operator's only definition: it runs alone, it is its own oracle, and the compiler reads its three parts
(what comes before the loop, the loop's body, what comes after) to write it into one loop with its neighbours.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, ParamSpec, TypeVar, cast, overload

from rx_core import OPERATOR_CODES
from rx_fusion._afterwards import counters_of, works_after
from rx_fusion._code_flags import GENERATOR, VARARGS, VARKEYWORDS

if TYPE_CHECKING:
    from rx_fusion.symbols._expression import Structure

P = ParamSpec("P")
R = TypeVar("R")

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
    #: What downstream's requests mean upstream, where it is not the same number.
    request: RequestRule | None
    #: Checks what the stage before it gives, and is never parted from it.
    guard: bool
    #: Something that can fail or be noticed comes after a yield, when the item was given already.
    works_after: bool
    #: It opens sources and gives None where one of them has nothing now: for who waits, and not for the stages behind it. What
    #: opens them is its last argument, and what they give is its variable ``_items``.
    waits: bool
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
    def one_to_at_most_one(self) -> bool:
        return not (self.expands or self.head_yields or self.tail_yields)


class Special(NamedTuple):
    """A stage for arguments that are expressions of these structures."""

    function: StageFunction
    symbols: tuple[Structure | None, ...]


#: A stage as shapes name it.
Step = StageFunction | Special

#: What is registered: read, or what reads it.
_STAGES: Final[dict[StageFunction, Stage | Callable[[], Stage]]] = {}
_BY_CODE: Final[dict[CodeType, StageFunction]] = {}


@overload
def stage(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def stage(
    *,
    name: str | None = None,
    request: RequestRule | None = None,
    guard: bool = False,
    later: bool = False,
    waits: bool = False,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def stage(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    request: RequestRule | None = None,
    guard: bool = False,
    later: bool = False,
    waits: bool = False,
) -> Callable[P, R] | Callable[[Callable[P, R]], Callable[P, R]]:
    """Register a generator function ``(source, *arguments)`` as a synchronous operator and return it unchanged.

    ``request(*arguments)`` makes, for each subscription, a function from downstream's request to upstream's, where it is not the
    same number (``buffer`` asks for ``n * count``); it matters only in front of a publisher that is not ours. ``name`` is what
    messages and plans call it (default: the function's name). A ``guard`` checks what the stage before it gives: it stays with
    that stage where operators run apart. ``later`` leaves reading the source text to the first use, so that importing many stages
    costs nothing: for a package whose tests use each of them, because a function of another form is refused only then. One that
    ``waits`` is a coordinating operator's form for a thread that waits; see rx_fusion._freely.

    Raises StageError when the function is not of the form the compiler reads. Where the source text is not available the
    function is taken as it is and runs as it is.
    """
    if function is None:
        return lambda decorated: _register(decorated, name, request, guard, later, waits)
    return _register(function, name, request, guard, later, waits)


def _register(
    function: Callable[P, R], called: str | None, request: RequestRule | None, guard: bool, later: bool, waits: bool
) -> Callable[P, R]:
    plain = cast("FunctionType", function)
    if not isinstance(function, FunctionType) or not plain.__code__.co_flags & GENERATOR:
        raise StageError(
            f"@stage needs a generator function, got {function!r}.\n"
            f"  Right:  @stage\n          def name(source, argument):\n              for item in source:\n"
            f"                  yield item"
        )
    code = plain.__code__
    name = plain.__name__.rstrip("_") if called is None else called
    names = code.co_varnames[: code.co_argcount]
    if not names or code.co_kwonlyargcount or code.co_flags & (VARARGS | VARKEYWORDS):
        raise _refused(plain, None, "takes the source first and then plain positional arguments")
    registered = cast("StageFunction", function)

    def read() -> Stage:
        return _read(plain, name, names[1:], request, guard, waits)

    _STAGES[registered] = read if later else read()
    _BY_CODE[code] = registered
    OPERATOR_CODES.add(code)
    return function


def _read(
    function: FunctionType, name: str, parameters: tuple[str, ...], request: RequestRule | None, guard: bool, waits: bool
) -> Stage:
    parts = _parts(function)
    prologue, loop, epilogue = parts if parts is not None else (None, None, None)
    body_yields = 0.0 if loop is None else _most_yields(loop.body)
    counters = frozenset() if loop is None else counters_of(parameters, [*(prologue or []), loop, *(epilogue or [])])
    head = bool(prologue) and _most_yields(prologue or []) > 0
    tail = bool(epilogue) and _most_yields(epilogue or []) > 0
    return Stage(
        function=function,
        name=name,
        parameters=parameters,
        prologue=prologue,
        loop=loop,
        epilogue=epilogue,
        expands=loop is None or body_yields > 1,
        head_yields=loop is None or head,
        tail_yields=loop is None or tail,
        reduces=loop is not None and body_yields == 0 and tail and not head,
        stops=loop is None or _returns([loop]),
        marks=loop is None or _returns([loop, *(epilogue or [])]),
        drops=loop is None or _least_yields(loop.body) < 1,
        single_tail=loop is not None and tail and not head and body_yields <= 1 and _most_yields(epilogue or []) == 1,
        request=request,
        guard=guard,
        works_after=loop is None or any(works_after(part, counters) for part in (loop.body, epilogue or [])),
        waits=waits,
        counters=counters,
    )


def stage_of(function: StageFunction, /) -> Stage:
    """What is known of a registered stage function. Raises StageError for one that was not registered."""
    found = _STAGES.get(function)
    if found is None:
        raise StageError(f"{function!r} is not a stage.\n  Right:  decorate it with @stage")
    if not isinstance(found, Stage):
        found = _STAGES[function] = found()  # two threads read the same text: it does not matter whose stays
    return found


def is_stage(function: object, /) -> bool:
    """Whether this is a registered stage function. Its text is not read to find out."""
    return function in _STAGES


def stage_by_code(code: CodeType, /) -> Stage | None:
    """The stage whose function has this code object, for reading tracebacks."""
    function = _BY_CODE.get(code)
    return None if function is None else stage_of(function)


# -- reading the source text -----------------------------------------------------------------------------------------------

#: CPython (3.11 at least) counts how deep it is in a syntax tree for all threads together: two that make one at the same time get
#: a SystemError, "AST constructor recursion depth mismatch".
PARSING: Final = threading.RLock()

_TREES: dict[str, tuple[list[str], ast.Module]] = {}


def _definition(function: FunctionType) -> ast.FunctionDef | None:
    """The function's syntax tree, from its module parsed once; None when there is no source text."""
    import linecache  # brings tokenize: only who compiles or fails needs it

    path = function.__code__.co_filename
    lines = linecache.getlines(path, function.__globals__)
    if not lines:
        return None
    known = _TREES.get(path)
    if known is None or known[0] is not lines:
        try:
            with PARSING:
                known = lines, ast.parse("".join(lines))
        except SyntaxError:
            return None
        _TREES[path] = known
    first = function.__code__.co_firstlineno  # the first decorator's line
    for node in ast.walk(known[1]):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            line = node.decorator_list[0].lineno if node.decorator_list else node.lineno
            if line == first:
                return node
    return None  # the file changed since it was imported


def _parts(function: FunctionType) -> tuple[list[ast.stmt], ast.For, list[ast.stmt]] | None:
    definition = _definition(function)
    if definition is None:
        return None
    body = definition.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
        body = body[1:]
    source = definition.args.args[0].arg
    loops = [at for at, statement in enumerate(body) if _loops_over(statement, source)]
    if len(loops) != 1:
        how = "has no" if not loops else "has a second"
        raise _refused(function, definition, f"{how} 'for ... in {source}:' at its top level; exactly one is needed")
    at = loops[0]
    loop = body[at]
    assert isinstance(loop, ast.For)
    if not isinstance(loop.target, ast.Name) or loop.orelse:
        raise _refused(function, loop, f"write the loop as 'for item in {source}:', without else")
    if function.__code__.co_freevars:
        return None  # closes over variables of an enclosing function: runs as it is
    _Check(function, source, loop).check(definition)
    return body[:at], loop, body[at + 1 :]


def _loops_over(statement: ast.stmt, source: str) -> bool:
    return isinstance(statement, ast.For) and isinstance(statement.iter, ast.Name) and statement.iter.id == source


_REMEDY = {
    ast.Continue: "'continue' (write the condition around the rest instead)",
    ast.Try: "'try' (errors pass through a stage; a coordinating operator may catch them)",
    ast.With: "'with' (open it where the stream is made: defer or using)",
    ast.FunctionDef: "a function inside (put it at module level)",
    ast.Lambda: "a lambda inside (put a function at module level)",
    ast.ClassDef: "a class inside (put it at module level)",
    ast.Import: "'import' (put it at module level)",
    ast.ImportFrom: "'import' (put it at module level)",
    ast.Match: "'match' (write if and elif)",
    ast.TryStar: "'try' (errors pass through a stage; a coordinating operator may catch them)",
    ast.AsyncFunctionDef: "async code",
    ast.AsyncFor: "async code",
    ast.AsyncWith: "async code",
    ast.Await: "async code",
    ast.Global: "'global' (keep the state in local variables)",
    ast.Nonlocal: "'nonlocal' (keep the state in local variables)",
}


class _Check(ast.NodeVisitor):
    """Refuses what could not be written into somebody else's loop."""

    def __init__(self, function: FunctionType, source: str, loop: ast.For) -> None:
        self.function, self.source, self.loop = function, source, loop
        self.inner_loops = 0

    def check(self, definition: ast.FunctionDef) -> None:
        for statement in definition.body:
            self.visit(statement)

    def refuse(self, node: ast.AST, why: str) -> StageError:
        return _refused(self.function, node, why)

    def visit(self, node: ast.AST) -> None:
        remedy = _REMEDY.get(type(node))
        if remedy is not None:
            raise self.refuse(node, f"uses {remedy}")
        super().visit(node)

    def visit_For(self, node: ast.For) -> None:
        if node is self.loop:
            for statement in node.body:
                self.visit(statement)
            return
        self.visit(node.iter)
        self.inner_loops += 1
        for statement in [*node.body, *node.orelse]:
            self.visit(statement)
        self.inner_loops -= 1

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self.inner_loops += 1
        for statement in [*node.body, *node.orelse]:
            self.visit(statement)
        self.inner_loops -= 1

    def visit_Break(self, node: ast.Break) -> None:
        if not self.inner_loops:
            raise self.refuse(node, "leaves the loop over the source with 'break' (use 'return': the stream is complete)")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            raise self.refuse(node, "returns a value (a bare 'return' completes the stream; items are yielded)")

    def visit_Name(self, node: ast.Name) -> None:
        if node.id == self.source:
            raise self.refuse(node, f"uses '{self.source}' a second time; a source can be iterated once")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Yield):
            if node.value.value is None:
                raise self.refuse(node, "yields nothing; an item is needed")
            self.visit(node.value.value)
        else:
            self.generic_visit(node)

    def visit_Yield(self, node: ast.Yield) -> None:
        raise self.refuse(node, "uses the value of a yield; 'yield item' has to stand alone")

    def visit_YieldFrom(self, node: ast.YieldFrom) -> None:
        raise self.refuse(node, "uses 'yield from' (write the loop: for inner in ...: yield inner)")


def _returns(statements: Iterable[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Return) for statement in statements for node in ast.walk(statement))


def _most_yields(statements: Iterable[ast.stmt]) -> float:
    """The largest number of items one pass through ``statements`` can give; infinite inside a loop."""
    most = 0.0
    for statement in statements:
        if isinstance(statement, ast.If):
            most += max(_most_yields(statement.body), _most_yields(statement.orelse))
        elif isinstance(statement, (ast.For, ast.While)):
            if _most_yields(statement.body) or _most_yields(statement.orelse):
                most = float("inf")
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
            most += 1
    return most


def _least_yields(statements: Iterable[ast.stmt]) -> int:
    """The smallest number of items one pass through ``statements`` can give."""
    least = 0
    for statement in statements:
        if isinstance(statement, ast.If):
            least += min(_least_yields(statement.body), _least_yields(statement.orelse))
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
            least += 1
        elif isinstance(statement, (ast.Return, ast.Raise)):
            return max(least, 1)  # the stream ends here: nothing is missing
    return least


def _refused(function: FunctionType, node: ast.AST | None, why: str) -> StageError:
    line = getattr(node, "lineno", function.__code__.co_firstlineno)
    return StageError(
        f"stage {function.__qualname__}() {why}.\n"
        f"  at {function.__code__.co_filename}:{line}\n"
        f"  Form:  def name(source, argument):  before... / for item in source: ... yield x ... / after...\n"
        f"  What does not fit this form is a coordinating operator; see docs/guides/writing-operators.md"
    )
