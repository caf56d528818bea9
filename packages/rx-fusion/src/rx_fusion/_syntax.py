"""What the compiler asks of the statements of a stage, and how it makes new ones."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, Final

from rx_fusion._inline import MARK
from rx_fusion._stage import Stage


def locals_of(stage: Stage) -> Sequence[str]:
    code: CodeType = stage.function.__code__
    return (*code.co_varnames, *code.co_cellvars, *stage.constants)


def loop_name(stage: Stage) -> str:
    assert stage.loop is not None
    assert isinstance(stage.loop.target, ast.Name)
    return stage.loop.target.id


def names_assigned(statements: Sequence[ast.stmt]) -> set[str]:
    return {
        node.id
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def names_read(statements: Sequence[ast.stmt]) -> set[str]:
    return {
        node.id
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def state_of(stage: Stage) -> frozenset[str]:
    """The variables of a stage that live longer than one item."""
    found = _states.get(stage.function)
    if found is None:
        before, body, after = stage.prologue or [], stage.loop.body if stage.loop else [], stage.epilogue or []
        ends, assigned = names_assigned(after), names_assigned(body)
        read = names_read(after)
        state = names_assigned(before) | ends | read | assigned - temporary_names(body)
        constant = set(stage.parameters) - assigned - ends
        found = _states[stage.function] = frozenset(state - constant - ({loop_name(stage)} - read))
    return found


#: Walking through syntax trees takes as long as compiling them.
_states: Final[dict[Callable[..., Any], frozenset[str]]] = {}


def temporary_names(block: Sequence[ast.stmt]) -> set[str]:
    """Names that each pass through ``block`` assigns before it reads them."""
    names = [names_assigned([statement]) | names_read([statement]) for statement in block]
    found: set[str] = set()
    for at, statement in enumerate(block):
        if isinstance(statement, ast.Assign):
            found |= names_assigned([statement]) - names_read([statement]) - set().union(*names[:at])
        elif isinstance(statement, (ast.If, ast.For, ast.While)):
            elsewhere = set().union(*names[:at], *names[at + 1 :])
            test = statement.iter if isinstance(statement, ast.For) else statement.test
            around = elsewhere | {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
            either, other = statement.body, statement.orelse
            found |= temporary_names(either) - around - names_assigned(other) - names_read(other)
            found |= temporary_names(other) - around - names_assigned(either) - names_read(either)
            if isinstance(statement, ast.For):
                target = {node.id for node in ast.walk(statement.target) if isinstance(node, ast.Name)}
                found |= target - around - names_assigned(other) - names_read(other)
    return found


def checked_and_given(statements: Sequence[ast.stmt], stage: Stage) -> str | None:
    """``v`` if the statements begin with ``v = ...``, ``if v is None: raise ...`` and ``yield v``, and nothing else of the stage
    uses it. None: they do not."""
    match statements[:3]:
        case [
            ast.Assign(targets=[ast.Name(id=name)]),
            ast.If(
                test=ast.Compare(left=ast.Name(id=tested), ops=[ast.Is()], comparators=[ast.Constant(value=None)]),
                body=[ast.Raise()],
                orelse=[],
            ) as check,
            ast.Expr(value=ast.Yield(value=ast.Name(id=given))),
        ] if name == tested == given and name not in stage.parameters:
            whole = [*(stage.prologue or []), *([stage.loop] if stage.loop else []), *(stage.epilogue or [])]
            return name if times_named(name, whole) == 2 + times_named(name, [check]) else None
    return None


def times_named(name: str, statements: Sequence[ast.stmt]) -> int:
    return sum(isinstance(node, ast.Name) and node.id == name for each in statements for node in ast.walk(each))


def assigned_last(name: str, statements: Sequence[ast.stmt]) -> list[ast.If] | None:
    """The conditions of the only assignment of ``name``, where nothing but checks that raise stands behind it. None: something
    does, or there is none, or there are several."""
    conditions: list[ast.If] = []
    while True:
        assigning = [at for at, each in enumerate(statements) if name in names_assigned([each])]
        if len(assigning) != 1 or not all(map(_only_raises, statements[assigning[0] + 1 :])):
            return None
        match statements[assigning[0]]:
            case ast.Assign():
                return conditions
            case ast.If(body=body, orelse=[]) as condition if name not in names_assigned([ast.Expr(condition.test)]):
                conditions.append(condition)
                statements = body
            case _:
                return None


def _only_raises(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and isinstance(statement.body[0], ast.Raise) and not statement.orelse


_PURE = (ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.operator, ast.cmpop, ast.boolop)


def is_pure(test: ast.expr) -> bool:
    """Whether evaluating it early changes nothing: names, constants and arithmetic on them, but not a user's expression."""
    return all(isinstance(node, (*_PURE, ast.unaryop, ast.expr_context)) and not hasattr(node, MARK) for node in ast.walk(test))


def stoppable(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Catch a stop behind these statements, if one of them raises it."""
    if not any(isinstance(node, ast.Raise) and is_stop(node) for each in statements for node in ast.walk(each)):
        return statements
    handler = ast.ExceptHandler(ast.Name("_Stop", ast.Load()), None, [ast.Pass()])
    return [ast.Try(body=statements, handlers=[handler], orelse=[], finalbody=[])]


def is_stop(node: ast.Raise) -> bool:
    return isinstance(node.exc, ast.Name) and node.exc.id == "_Stop"


def make_function(name: str, arguments: Sequence[str], body: list[ast.stmt]) -> ast.FunctionDef:
    made = ast.parse(f"def {name}({', '.join(arguments)}): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = body
    return made


def parse_statements(text: str) -> list[ast.stmt]:
    # 'return', 'break' and 'yield' parse outside a function; only compile() minds where they stand.
    return ast.parse(text).body


def parse_expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
