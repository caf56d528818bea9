"""What a stage does after a ``yield``, when its item was given already.

Usually nothing that could be noticed: it remembers something, or it counts. Otherwise the forms that give an item as a
function's result have to let it go out before they tell of a failure, and may not leave the rest undone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from itertools import chain


def counters_of(parameters: Sequence[str], parts: Sequence[ast.stmt]) -> frozenset[str]:
    """The names that hold an argument, a constant, or what came of adding constants to one."""
    counting: set[str] = set()
    other: set[str] = set()
    stored: set[ast.Name] = set()
    for node in chain.from_iterable(map(ast.walk, parts)):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0], node.value
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            name, value = node.target, node.value
        else:
            continue
        stored.add(name)
        plain = isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id in parameters)
        (counting if plain else other).add(name.id)
    for node in chain.from_iterable(map(ast.walk, parts)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in stored:
            other.add(node.id)  # of a loop, or several at once
    return frozenset((counting | set(parameters)) - other)


def works_after(statements: Iterable[ast.stmt], counters: frozenset[str]) -> bool:
    """Whether anything that can fail or be noticed follows a yield on the way through ``statements``."""
    return _look(statements, counters, False)[1]


def _look(statements: Iterable[ast.stmt], counters: frozenset[str], given: bool) -> tuple[bool, bool]:
    """Whether an item may have been given when these statements are through, and whether something followed one."""
    works = False
    for statement in statements:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
            works = works or (given and not _silent(statement.value.value, counters))
            given = True
        elif isinstance(statement, ast.If):
            works = works or (given and not _silent(statement.test, counters))
            ways = [_look(way, counters, given) for way in (statement.body, statement.orelse)]
            given = given or any(way[0] for way in ways)
            works = works or any(way[1] for way in ways)
        elif isinstance(statement, (ast.For, ast.While)):
            inside = any(isinstance(node, ast.Yield) for node in ast.walk(statement))
            works = works or inside or given  # going round again asks a user's iterator, or a user's condition
            given = given or inside
        elif given and not _remembers(statement, counters):
            works = True
    return given, works


def _silent(expression: ast.expr | None, counters: frozenset[str]) -> bool:
    """Names, constants, and arithmetic on what only counts."""
    if isinstance(expression, (ast.Name, ast.Constant)):
        return True
    plain = (ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
    return expression is not None and all(
        isinstance(node, (*plain, ast.expr_context)) and (not isinstance(node, ast.Name) or node.id in counters)
        for node in ast.walk(expression)
    )


def _remembers(statement: ast.stmt, counters: frozenset[str]) -> bool:
    """Whether the statement only leaves, or puts a name to something that is there."""
    if isinstance(statement, (ast.Pass, ast.Break, ast.Return)):
        return True
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Name) for target in statement.targets) and _silent(statement.value, counters)
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.target, ast.Name) and statement.target.id in counters
    return (
        isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and (statement.value is None or _silent(statement.value, counters))
    )
