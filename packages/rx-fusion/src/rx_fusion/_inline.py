"""Stages with an expression in the place of a call: ``mapper(item)`` becomes ``item + c`` in a copy of the stage's statements."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rx_fusion._stage import Stage
    from rx_fusion.symbols._expression import Structure

#: Says of a syntax node that it is a user's expression: for notes on errors, and because it must not be evaluated early.
MARK: Final = "rx_expression"


def specialised(stage: Stage, symbols: tuple[Structure | None, ...]) -> Stage | None:
    """``stage`` for arguments of these structures; None where nothing could be written in.

    The arguments stay what they are: the constants are unpacked from them before the loop.
    """
    if stage.loop is None:
        return None
    prologue, loop, epilogue = copy.deepcopy((stage.prologue or [], stage.loop, stage.epilogue or []))
    unpacking: list[ast.stmt] = []
    names: list[str] = []
    taken = {node.id for part in (*prologue, loop, *epilogue) for node in ast.walk(part) if isinstance(node, ast.Name)}
    done: list[Structure | None] = []
    for parameter, structure in zip(stage.parameters, symbols, strict=True):
        done.append(None)
        if structure is None or _assigned(parameter, (*prologue, loop, *epilogue)):
            continue
        constants = [_fresh(f"{parameter}_{at}c", taken) for at in range(structure.constants)]
        writer = _Inline(parameter, structure, constants)
        for part in (*prologue, loop, *epilogue):
            writer.visit(part)
        if not writer.calls:
            continue
        done[-1] = structure
        names += constants
        if constants:
            target = ast.Tuple([ast.Name(name, ast.Store()) for name in constants], ast.Store())
            given = ast.Attribute(ast.Name(parameter, ast.Load()), "args", ast.Load())
            unpacking.append(ast.Assign([target], given, lineno=0))
    if not any(done):
        return None
    return stage._replace(
        prologue=[*unpacking, *prologue], loop=loop, epilogue=epilogue, symbols=tuple(done), constants=tuple(names)
    )


def _assigned(name: str, parts: Sequence[ast.stmt]) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for part in parts
        for node in ast.walk(part)
    )


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "c"
    taken.add(name)
    return name


class _Inline(ast.NodeTransformer):
    def __init__(self, parameter: str, structure: Structure, constants: Sequence[str]) -> None:
        self._parameter, self._structure, self._constants = parameter, structure, constants
        self.calls = 0

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if (
            not isinstance(node.func, ast.Name)
            or node.func.id != self._parameter
            or node.keywords
            or len(node.args) != self._structure.arity
            # anything but a name would be evaluated as often as the expression uses it
            or not all(isinstance(each, (ast.Name, ast.Constant)) for each in node.args)
        ):
            return node
        self.calls += 1
        made = self._structure.code(self._constants, node.args)
        setattr(made, MARK, True)
        return made


def expressions_in(module: ast.Module) -> tuple[str, ...]:
    """The texts of the expressions that were written in."""
    return tuple({ast.unparse(node) for node in ast.walk(module) if hasattr(node, MARK) and not isinstance(node, ast.Name)})
