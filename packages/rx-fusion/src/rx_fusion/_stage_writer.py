"""Writes the statements of stages, each where the stage before it yields.

What the last yield becomes, and what ``return`` does, depends on the form; the function around the statements is the business of
:mod:`rx_fusion._compiler`. Names of stage i end in ``_i``, which also tells a traceback which stage a line belongs to. ``return``
in stage i means "complete": the ends of later stages still run, those of stage i and the ones before it do not.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from itertools import count
from typing import Any, Final, NamedTuple

from rx_core import close, none_produced
from rx_core.streams import END, Handover, left_behind
from rx_fusion._forms import NUMBERS, Form
from rx_fusion._notes import note_failure
from rx_fusion._stage import Stage
from rx_fusion._stages import close_left, closing_of
from rx_fusion._syntax import (
    checked_and_given,
    is_pure,
    locals_of,
    loop_name,
    names_assigned,
    names_read,
    parse_statements,
    state_of,
)
from rx_fusion.symbols._writing import BUILTINS

#: Beyond this many statements inlining stops paying and the stages run stacked.
MAX_STATEMENTS: Final = 2_000
#: CPython nests at most twenty blocks in a function; some are ours.
MAX_LOOPS: Final = 14

#: Names of the function around the stages. A global of a stage's module that is called so gets another name there.
_TAKEN: Final = frozenset({
    "args", "down", "dropped", "emit", "error", "failed", "finish", "fused", "handover", "left", "on_next", "origin", "out",
    "raised", "resumed", "run", "source", "state", "step", "stop",
})  # fmt: skip

#: What a Pump asks of an item that is given, see rx_core.streams.pump.
_EMIT: Final = """
try: emit(out)
except BaseException as error: run.emit_failed(error)
if run.dirty:
    yield
    if run.stopped: return
"""
_EMIT_COUNTED: Final = """
try: emit(out)
except BaseException as error: run.emit_failed(error)
left -= 1
if not left or run.dirty:
    run.left = left
    yield
    if run.stopped: return
    left = run.left
"""

#: Builtins that the writer uses, in case that a module has others by these names.
_USED: Final = {each.__name__: each for each in (BaseException, Exception, GeneratorExit, iter)}


class Stop(Exception):
    """Leaves nested loops when a stage completes. Private to generated code."""


class TooLarge(Exception):
    """The stages would multiply beyond reason."""


class Place(NamedTuple):
    """Where statements are being written: how a stage can leave from here."""

    loops: int  # loops of stages between here and the loop over the source
    in_main_loop: bool


class StageWriter:
    """The statements of ``stages`` for one form, and the names that they use."""

    def __init__(self, stages: Sequence[Stage], form: Form) -> None:
        self.stages = stages
        self.form = form
        self.written = 0
        #: By stage: a variable of it, and another name for it, where it is what the next stage calls its item.
        self.called: dict[int, tuple[str, str]] = {}
        #: The variables of the iterables that are to be closed when the function is left inside of their loops.
        self.left: list[str] = []
        self.namespace: dict[str, Any] = {
            "_END": END,
            "_Stop": Stop,
            "_Handover": Handover,
            "_close": close,
            "_close_left": close_left,
            "_left_behind": left_behind,
            "_none_produced": none_produced,
            "_note_failure": note_failure,
            **_USED,
            **BUILTINS,
        }
        #: By stage: a variable of it that holds a builtin number where statements are being written; see Form.numbers.
        self.numbers: set[tuple[int, str]] = set()
        self.locals = [frozenset(locals_of(stage)) for stage in stages]
        #: Whether it matters which stage drops an item that was pushed: the rules of those before it say what another one needs.
        ruled = any(stage.request is not None for stage in stages)
        self.tells = ruled and form.kind in ("step", "push") and any(stage.drops and stage.request is None for stage in stages)
        #: Whether a stage may fail when its item was given already: then the item goes out first.
        self.works_after = any(stage.works_after for stage in stages)
        # A last mark is sound only where nothing can follow the marked item. What fills in for one that was dropped is last, too.
        quiet = [stage.one_to_at_most_one or stage.fills for stage in stages]
        self.quiet_after = [all(quiet[at + 1 :]) for at in range(len(stages))]

    def body(self, at: int) -> list[ast.stmt]:
        loop = self.stages[at].loop
        assert loop is not None
        return loop.body

    def item(self, at: int) -> str:
        return self.rename(at, loop_name(self.stages[at]))

    def rename(self, at: int, name: str) -> str:
        return f"{name}_{at}"

    def write(self, statements: Sequence[ast.stmt], at: int, place: Place) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        unneeded: ast.stmt | None = None
        for index, statement in enumerate(statements):
            if statement is unneeded:
                continue
            following = statements[index + 1] if index + 1 < len(statements) else None
            if name := checked_and_given(statements[index:], self.stages[at]):
                known = self.know(name, at, isinstance(statement, ast.Assign) and self.is_number(statement.value, at))
                if known:
                    unneeded = following
                if given := self.given_as(at, checked=not known):
                    self.called[at] = name, given  # from here to its yield, which takes it back
            out += self.write_one(statement, following, at, place)
        return out

    def know(self, name: str, at: int, number: bool) -> bool:
        """Whether this variable of stage ``at`` holds a number from here on, and is not assigned by the stage."""
        known = number and (name != loop_name(self.stages[at]) or name not in names_assigned(self.body(at)))
        (self.numbers.add if known else self.numbers.discard)((at, name))
        return known

    def is_number(self, node: ast.expr, at: int) -> bool:
        """Whether the value is a builtin number, because it is computed of such alone."""
        match node:
            case ast.Name(id=name):
                return (at, name) in self.numbers or (self.form.numbers and name in self.stages[at].constants)
            case ast.Constant(value=value):
                return type(value) in NUMBERS
            case ast.BinOp(left=left, right=right):
                return self.is_number(left, at) and self.is_number(right, at)
            case ast.UnaryOp(operand=operand):
                return self.is_number(operand, at)
            case ast.Compare(left=left, comparators=others):
                return all(self.is_number(each, at) for each in (left, *others))
            case ast.BoolOp(values=values):
                return all(self.is_number(each, at) for each in values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return all(self.is_number(each, at) for each in (test, body, orelse))
            case _:
                return False

    def given_as(self, at: int, *, checked: bool) -> str | None:
        """The variable that an item of stage ``at`` is assigned to in order to be given, where it may be ``checked`` first. None:
        it stays where it is."""
        if at + 1 == len(self.stages):
            return "out" if self.form.kind in ("step", "push") else None
        later = self.stages[at + 1]
        kept = checked and loop_name(later) in state_of(later)
        return None if kept else self.item(at + 1)  # one that is kept is no item before its check

    def write_one(self, statement: ast.stmt, following: ast.stmt | None, at: int, place: Place) -> list[ast.stmt]:
        self.written += 1
        if self.written > MAX_STATEMENTS:
            raise TooLarge
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
            assert statement.value.value is not None
            value = self.renamed(statement.value.value, at)
            self.called.pop(at, None)
            if at + 1 < len(self.stages):
                item = loop_name(self.stages[at + 1])
                self.know(item, at + 1, self.is_number(statement.value.value, at))
            return [*self.mark(following, at), *self.emit(value, at, place)]
        if isinstance(statement, ast.Return):
            return self.leave(at, place)
        if isinstance(statement, ast.AnnAssign):  # a name that is nonlocal in a step cannot have an annotation there
            if statement.value is None:
                return []
            return [ast.Assign([self.renamed(statement.target, at)], self.renamed(statement.value, at), lineno=0)]
        if isinstance(statement, ast.If):
            body = self.write(statement.body, at, place)
            return [ast.If(self.renamed(statement.test, at), body, self.write(statement.orelse, at, place))]
        inner = Place(place.loops + 1, place.in_main_loop)
        if inner.loops > MAX_LOOPS and isinstance(statement, (ast.For, ast.While)):
            raise TooLarge
        if isinstance(statement, ast.For):
            items = self.renamed(statement.iter, at)
            before: list[ast.stmt] = []
            behind: list[ast.stmt] = []
            name = f"inner_{self.written}_"
            shows = self.form.shows_inner and place.in_main_loop
            closes = closing_of(self.stages[at].function) is not None
            if shows:
                items = ast.Call(ast.Name("iter", ast.Load()), [items], [])
            if shows or closes:
                before = [ast.Assign([ast.Name(name, ast.Store())], items, lineno=0)]
                items = ast.Name(name, ast.Load())
            if shows:
                before += parse_statements(f"run.inner[{self.written}] = {name}")
            if closes:
                self.left.append(name)
                behind = parse_statements(f"{name} = None")
            return [
                *before,
                ast.For(
                    self.renamed(statement.target, at),
                    items,
                    self.write(statement.body, at, inner) or [ast.Pass()],
                    self.write(statement.orelse, at, place),
                ),
                *behind,
            ]
        if isinstance(statement, ast.While):
            return [
                ast.While(
                    self.renamed(statement.test, at),
                    self.write(statement.body, at, inner) or [ast.Pass()],
                    self.write(statement.orelse, at, place),
                )
            ]
        return [self.renamed(statement, at)]

    def emit(self, value: ast.expr, at: int, place: Place) -> list[ast.stmt]:
        """What ``yield value`` of stage ``at`` becomes."""
        if at + 1 < len(self.stages):
            given = self.assigned(self.item(at + 1), value)
            told = parse_statements(f"run.reached = {at + 1}") if self.tells and place.in_main_loop else []
            return [*given, *told, *self.write(self.body(at + 1), at + 1, place)]
        if self.form.kind in ("step", "push"):
            return self.assigned("out", value)
        if self.form.kind == "value":
            return [ast.Return(value)]
        if self.form.kind == "emit":  # the value first: what fails there is no failure of the subscriber
            text = _EMIT_COUNTED if self.form.counts else _EMIT
            if isinstance(value, ast.Name):
                return parse_statements(text.replace("emit(out)", f"emit({value.id})"))
            emitted = parse_statements(text)
            return [ast.Assign([ast.Name("out", ast.Store())], value, lineno=0), *emitted]
        out: list[ast.stmt] = [ast.Expr(ast.Yield(value))]
        if self.form.cancel and (place.loops or not place.in_main_loop):
            out += parse_statements("if run.stopped: return")  # an expansion must not outlive a cancel
        return out

    def assigned(self, name: str, value: ast.expr) -> list[ast.stmt]:
        """``name = value``, unless it has that name already."""
        if isinstance(value, ast.Name) and value.id == name:
            return []
        return [ast.Assign([ast.Name(name, ast.Store())], value, lineno=0)]

    def mark(self, following: ast.stmt | None, at: int) -> list[ast.stmt]:
        """``yield x`` followed by ``if done: return``, or by ``return``: the last item, said before it is given away."""
        if not self.form.mark_last or not self.quiet_after[at]:
            return []
        if isinstance(following, ast.Return):
            return parse_statements("run.last = True")
        if (
            isinstance(following, ast.If)
            and len(following.body) == 1
            and isinstance(following.body[0], ast.Return)
            and not following.orelse
            and is_pure(following.test)
        ):
            mark: list[ast.stmt] = [ast.If(self.renamed(following.test, at), parse_statements("run.last = True"), [])]
            if names_read([following]) <= self.stages[at].counters:
                return mark
            # A user's comparison: what it raises it raises again, behind the item.
            handler = ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, [ast.Pass()])
            return [ast.Try(body=mark, handlers=[handler], orelse=[], finalbody=[])]
        return []

    def leave(self, at: int, place: Place) -> list[ast.stmt]:
        """``return`` in stage ``at``: complete, and let only later stages run their ends."""
        if self.form.kind == "step":
            leave = "return out" if place.in_main_loop else "raise _Stop"
            return parse_statements(f"run.stop = {at}\nrun.last = True\n{leave}")
        if self.form.kind == "push":
            leave = "break" if place.in_main_loop and not place.loops else "raise _Stop"
            return parse_statements(f"run.stop = {at}\nrun.last = True\n{leave}")
        leave = "break" if place.in_main_loop and not place.loops else "raise _Stop"
        return parse_statements(f"stop = {at}\n{leave}")

    def renamed(self, node: Any, at: int) -> Any:
        return _Renamer(self, at).visit(copy.deepcopy(node))


class _Renamer(ast.NodeTransformer):
    def __init__(self, writer: StageWriter, at: int) -> None:
        self.writer, self.at = writer, at

    def visit_Name(self, node: ast.Name) -> ast.Name:
        writer, at = self.writer, self.at
        if node.id in writer.locals[at]:
            name, given = writer.called.get(at, ("", ""))
            return ast.Name(given if name == node.id else writer.rename(at, node.id), node.ctx)
        scope = getattr(writer.stages[at].function, "__globals__", {})
        if node.id not in scope:
            return node  # a builtin, or a comprehension's own variable
        name = node.id
        value = scope[name]
        for turn in count(2):
            if not _is_taken(name):
                if name not in writer.namespace:
                    writer.namespace[name] = value
                if writer.namespace[name] is value:
                    return ast.Name(name, node.ctx)
            name = f"{node.id}__{turn}_"
        raise AssertionError  # pragma: no cover  # count() does not end


def _is_taken(name: str) -> bool:
    """Whether it is, or may be, a variable of the function that is written: those of stages end in a number."""
    return name in _TAKEN or name.rpartition("_")[2].isdecimal()
