"""Reading a stage: its three parts from the source text of its function, and what can be told from them.

Refuses with a StageError what could not be written into another function's loop.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterable
from types import FunctionType
from typing import Final

from rx_fusion._after_yield import counters_of, works_after
from rx_fusion._stage import RequestRule, Stage, StageError, refused
from rx_fusion._syntax import names_assigned

#: CPython (3.11 at least) counts how deep it is in a syntax tree for all threads together: two that make one at the same time get
#: a SystemError, "AST constructor recursion depth mismatch".
PARSING: Final = threading.RLock()

_TREES: dict[str, tuple[list[str], ast.Module]] = {}


def read_stage(
    function: FunctionType,
    name: str,
    parameters: tuple[str, ...],
    request: RequestRule | None,
    guard: bool,
    keeps: tuple[str, ...] | None,
) -> Stage:
    parts = _parts(function)
    prologue, loop, epilogue = parts if parts is not None else (None, None, None)
    body_yields = 0.0 if loop is None else _most_yields(loop.body)
    counters = frozenset() if loop is None else counters_of(parameters, [*(prologue or []), loop, *(epilogue or [])])
    head = bool(prologue) and _most_yields(prologue or []) > 0
    tail = bool(epilogue) and _most_yields(epilogue or []) > 0
    single_tail = loop is not None and tail and not head and body_yields <= 1 and _most_yields(epilogue or []) == 1
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
        single_tail=single_tail,
        fills=loop is not None and single_tail and _fills(prologue or [], loop, epilogue or []),
        request=request,
        guard=guard,
        keeps=_kept(function, keeps),
        looks=loop is not None and not head and _looks(loop, epilogue or [], parameters),
        works_after=loop is None or any(works_after(part, counters) for part in (loop.body, epilogue or [])),
        counters=counters,
    )


def _kept(function: FunctionType, keeps: tuple[str, ...] | None) -> tuple[str, ...] | None:
    unknown = set(keeps or ()) - set(function.__code__.co_varnames)
    if unknown:
        raise refused(function, None, f"has no variable {', '.join(sorted(unknown))}, of which it says that it keeps items")
    return keeps


def _fills(prologue: list[ast.stmt], loop: ast.For, epilogue: list[ast.stmt]) -> bool:
    """Whether a flag that is true before the loop, and false with its first item, guards all that ``epilogue`` does."""
    if len(epilogue) != 1 or not isinstance(epilogue[0], ast.If) or not isinstance(epilogue[0].test, ast.Name):
        return False
    flag = epilogue[0].test.id
    set_to = [_constant_set(statement, flag) for statement in (*prologue, *loop.body[:1])]
    elsewhere = names_assigned([*loop.body[1:], *epilogue])
    return set_to[-2:] == [True, False] and not epilogue[0].orelse and flag not in elsewhere


def _constant_set(statement: ast.stmt, name: str) -> object:
    """The constant that ``statement`` assigns to that name alone; None: it does something else."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.value, ast.Constant):
        target = statement.targets[0]
        return statement.value.value if isinstance(target, ast.Name) and target.id == name else None
    return None


def _looks(loop: ast.For, epilogue: list[ast.stmt], parameters: tuple[str, ...]) -> bool:
    """Whether ``loop`` gives the item that came or nothing, and nothing of what came before; ``epilogue`` an argument at most."""
    assert isinstance(loop.target, ast.Name)
    item = loop.target.id
    if item in names_assigned(loop.body):
        return False
    given = _names_given(loop.body)
    return bool(given) and given <= {item} and _names_given(epilogue) <= set(parameters) - names_assigned([loop, *epilogue])


def _names_given(statements: Iterable[ast.stmt]) -> set[str | None]:
    """What is yielded in ``statements``; None: what is no name."""
    yields = [node.value for each in statements for node in ast.walk(each) if isinstance(node, ast.Yield)]
    return {value.id if isinstance(value, ast.Name) else None for value in yields}


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
        raise refused(function, definition, f"{how} 'for ... in {source}:' at its top level; exactly one is needed")
    at = loops[0]
    loop = body[at]
    assert isinstance(loop, ast.For)
    if not isinstance(loop.target, ast.Name) or loop.orelse:
        raise refused(function, loop, f"write the loop as 'for item in {source}:', without else")
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
    """Refuses what could not be written into another function's loop."""

    def __init__(self, function: FunctionType, source: str, loop: ast.For) -> None:
        self.function, self.source, self.loop = function, source, loop
        self.inner_loops = 0

    def check(self, definition: ast.FunctionDef) -> None:
        for statement in definition.body:
            self.visit(statement)

    def refuse(self, node: ast.AST, why: str) -> StageError:
        return refused(self.function, node, why)

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
