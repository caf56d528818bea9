"""Writes several stages into one function.

Stage i+1 is inlined at every ``yield`` of stage i. One writer gives all forms; they differ in what the
last yield becomes and in what the loop checks:

=======  ========================  =====================================================================
form     the last ``yield x``      for
=======  ========================  =====================================================================
pull     ``yield x``               iteration; with a cancel check inside a run; with the last mark under a Pump
value    ``return x``              ``blocking_get`` and everything that wants one item
step     ``return x`` or None      push: one item in, at most one out, state in closures
push     a call of ``down(x)``     the same between two of ours, as the ``on_next`` itself
=======  ========================  =====================================================================

Names of stage i end in ``_i``, which also tells a traceback which stage a line belongs to. ``return`` in stage i means
"complete":
the ends of later stages still run, those of stage i and the ones before it do not.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from itertools import count
from types import CodeType
from typing import Any, Final, NamedTuple

from rx_core import OPERATOR_CODES, close, none_produced
from rx_core.streams import Handover
from rx_fusion._forms import Feed, Form
from rx_fusion._inline import expressions_in
from rx_fusion._notes import EXPRESSIONS, GENERATED, note_failure
from rx_fusion._reading import PARSING
from rx_fusion._stage import Stage
from rx_fusion._syntax import (
    is_pure,
    locals_of,
    loop_name,
    make_function,
    names_assigned,
    names_read,
    parse_expression,
    parse_statements,
    state_of,
    stoppable,
)
from rx_fusion.symbols._writing import BUILTINS


class Stop(Exception):
    """Leaves nested loops when a stage completes. Private to generated code."""


#: Beyond this many statements inlining stops paying and the stages run stacked.
MAX_STATEMENTS: Final = 2_000
#: CPython nests at most twenty blocks in a function; some are ours.
MAX_LOOPS: Final = 14

_numbers = count(1)


class TooLarge(Exception):
    """The stages would multiply beyond reason."""


def compile_form(stages: Sequence[Stage], form: Form) -> Callable[..., Any]:
    """The function for ``form``. ``pull`` and ``value`` are called as (source, run, origin, args), ``step`` as (run, args,
    state), which returns (step, finish), and ``push`` as (run, args, state, down, raised, dropped), which returns (on_next,
    finish). ``state`` is None, or that of the same stages when they go on after a ``Handover``: a form that ``resumes`` takes a
    fifth argument, which is called with the Handover and that state for what is to be raised. Raises TooLarge when the stages
    should better be stacked."""
    import linecache  # brings tokenize: only who compiles or fails needs it

    writer = _Writer(stages, form)
    with PARSING:
        module = writer.module()
    names = "·".join(stage.name or "inner" for stage in stages)
    feed = "" if form.kind in ("step", "push") else f" {form.feed.value}"
    path = f"<rx {names} ({form.kind}{feed}) #{next(_numbers)}>"
    text = ast.unparse(module) + "\n"
    # Lazily kept for tracebacks and debuggers: linecache entries without a time stamp survive checkcache().
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    GENERATED[path] = tuple(stages)
    if any(stage.symbols for stage in stages):
        EXPRESSIONS[path] = expressions_in(module)
    namespace = writer.namespace
    code = compile(text, path, "exec")
    exec(code, namespace)
    made: Callable[..., Any] = namespace["fused"]
    OPERATOR_CODES.add(made.__code__)
    if form.kind == "push":
        OPERATOR_CODES.update(code for code in made.__code__.co_consts if isinstance(code, CodeType))
    return made


class _Place(NamedTuple):
    """Where statements are being written: how a stage can leave from here."""

    loops: int  # loops of stages between here and the loop over the source
    in_main_loop: bool


class _Writer:
    def __init__(self, stages: Sequence[Stage], form: Form) -> None:
        self.stages = stages
        self.form = form
        self.written = 0
        self.namespace: dict[str, Any] = {
            "_Stop": Stop,
            "_Handover": Handover,
            "_close": close,
            "_none_produced": none_produced,
            "_note_failure": note_failure,
            **BUILTINS,
        }
        self.locals = [frozenset(locals_of(stage)) for stage in stages]
        #: Whether it matters which stage drops an item that was pushed: the rules of those before it say what another one needs.
        ruled = any(stage.request is not None for stage in stages)
        self.tells = ruled and form.kind in ("step", "push") and any(stage.drops and stage.request is None for stage in stages)
        #: Whether a stage may fail when its item was given already: then the item goes out first.
        self.works_after = any(stage.works_after for stage in stages)
        # A last mark is sound only where nothing can follow the marked item.
        self.quiet_after = [all(later.one_to_at_most_one for later in stages[at + 1 :]) for at in range(len(stages))]

    # -- the frame -------------------------------------------------------------------------------------------------

    def module(self) -> ast.Module:
        function = {"step": self.step, "push": self.push}.get(self.form.kind, self.run_to_end)()
        return ast.fix_missing_locations(ast.Module(body=[function], type_ignores=[]))

    def unpack(self) -> list[ast.stmt]:
        names = [self.rename(at, name) for at, stage in enumerate(self.stages) for name in stage.parameters]
        if not names:
            return []
        target = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
        return [ast.Assign([target], ast.Name("args", ast.Load()), lineno=0)]

    def run_to_end(self) -> ast.FunctionDef:
        """pull and value: beginnings, the loop, ends; a failure gets its note and the source is closed."""
        begin = self.beginning()
        item, take = self.first_item()
        loop = ast.For(
            target=ast.Name(item, ast.Store()),
            iter=ast.Name("source", ast.Load()),
            body=[*self.guards(item), *take, *self.write(self.body(0), 0, _Place(0, True)), *self.look_again()],
            orelse=[],
        )
        # A stop before the loop has to skip it; inside, 'break' is enough unless a stage's own loop is around.
        main = stoppable([*begin, loop])
        if self.form.cancel and any(stage.epilogue for stage in self.stages):
            main += parse_statements("if run.stopped: return")  # cancelled with the source's last item: no ends are run
        for at, stage in enumerate(self.stages):
            if stage.epilogue:
                end = stoppable(self.write(stage.epilogue, at, _Place(0, False)))
                main.append(ast.If(parse_expression(f"stop < {at}"), end, []))
        body: list[ast.stmt] = [*self.unpack(), *parse_statements("stop = -1")]
        tried = ast.Try(body=main, handlers=[], orelse=[], finalbody=[])
        failed = parse_statements("_note_failure(error, origin, args)\nraise")
        tried.handlers = [ast.ExceptHandler(parse_expression("(Exception, GeneratorExit)"), "error", failed)]
        if self.form.resumes:
            state = self.state()
            body += self.cleared(state, begin)
            left = parse_statements(f"source = ()\nraise resumed(handover, ({''.join(f'{name}, ' for name in state)})) from None")
            tried.handlers.append(ast.ExceptHandler(parse_expression("_Handover"), "handover", left))
        if self.form.feed is not Feed.CLEAN or self.form.resumes:
            tried.finalbody = parse_statements("_close(source)")
        body.append(tried)
        if self.form.kind == "pull" and not any(isinstance(node, ast.Yield) for node in ast.walk(tried)):
            body += parse_statements("if 0: yield")
        return make_function("fused", ["source", "run", "origin", "args", *(["resumed"] if self.form.resumes else [])], body)

    def beginning(self) -> list[ast.stmt]:
        """What comes before the loops. The outermost generator of a stack starts first and starts the one before it by pulling:
        last stage first."""
        begin: list[ast.stmt] = []
        for at in reversed(range(len(self.stages))):
            begin += self.write(self.stages[at].prologue or [], at, _Place(0, False))
        return begin

    def state(self) -> list[str]:
        """The variables that live longer than one item, in the same order for each form."""
        kept = [sorted(state_of(stage) & self.locals[at]) for at, stage in enumerate(self.stages)]
        return [self.rename(at, name) for at, names in enumerate(kept) for name in names]

    def cleared(self, state: Sequence[str], begin: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Assignments for those of ``state`` that have no value until an item has come."""
        given = {self.rename(at, name) for at, stage in enumerate(self.stages) for name in stage.parameters}
        missing = sorted(set(state) - given - names_assigned(begin))
        return [parse_statements(f"{name} = None")[0] for name in missing]

    def first_item(self) -> tuple[str, list[ast.stmt]]:
        """The name under which an item comes from the source, and what makes it the first stage's own.

        They are the same, unless that stage reads its item once more behind the loop: None for "nothing now" is not one.
        """
        item, stage = self.item(0), self.stages[0]
        if not stage.epilogue or loop_name(stage) not in names_read(stage.epilogue):
            return item, []
        return f"{item}_given", parse_statements(f"{item} = {item}_given")

    def guards(self, item: str) -> list[ast.stmt]:
        text = ""
        if self.form.cancel:
            text += "if run.stopped: return\n"
        if self.form.feed is Feed.RUNNING:
            text += f"if {item} is None:\n    yield None\n    continue\n"
        elif self.form.feed is Feed.CHECKED:
            text += f"if {item} is None: raise _none_produced(origin.name)\n"
        return parse_statements(text)

    def look_again(self) -> list[ast.stmt]:
        """A user's iterator is not asked for one more when the item just given was the one that made downstream cancel."""
        return parse_statements("if run.stopped: return") if self.form.cancel and self.form.feed is Feed.CHECKED else []

    def step(self) -> ast.FunctionDef:
        """push: state lives in closures, one call per item."""
        begin = self.beginning()
        state = self.state()
        kept = set(state)
        body: list[ast.stmt] = []
        written = self.write(self.body(0), 0, _Place(0, True))
        item, take = self.first_item()
        written = [*(parse_statements("run.reached = 0") if self.tells else []), *take, *written]
        changed = sorted(kept & names_assigned(written))
        if changed:
            body.append(ast.Nonlocal(changed))
        body += [*parse_statements("out = None"), *self.item_first(written), *parse_statements("return out")]
        step = make_function("step", [item], body)
        ends: list[ast.stmt] = []
        for at, stage in enumerate(self.stages):
            if stage.epilogue:
                end = stoppable(self.write(stage.epilogue, at, _Place(0, False)))
                ends.append(ast.If(parse_expression(f"run.stop < {at}"), end, []))
        changed = sorted(kept & names_assigned(ends))
        finish_body: list[ast.stmt] = [ast.Nonlocal(changed)] if changed else []
        finish_body += [*parse_statements("out = None"), *self.item_first(ends), *parse_statements("return out")]
        finish = make_function("finish", [], finish_body)
        before = [*self.unpack(), *self.cleared(state, begin)]
        if state:
            resumed = parse_statements(f"{', '.join(state)}, = state")
            before.append(ast.If(parse_expression("state is None"), stoppable(begin) or [ast.Pass()], resumed))
        else:
            before += stoppable(begin)
        return make_function("fused", ["run", "args", "state"], [*before, step, finish, *parse_statements("return step, finish")])

    def item_first(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """An error after a yield comes behind the item, as it does where the loop that iterates has the item by then."""
        if not self.works_after or not statements:
            return statements
        late = parse_statements("if out is None: raise\nrun.late = error\nrun.last = True")
        handler = ast.ExceptHandler(parse_expression("(Exception, GeneratorExit)"), "error", late)
        return [ast.Try(body=statements, handlers=[handler], orelse=[], finalbody=[])]

    def push(self) -> ast.FunctionDef:
        """The step with what comes before and after it, as the ``on_next`` of a subscriber: no call in between."""
        step = self.step()
        (made,) = (node for node in step.body if isinstance(node, ast.FunctionDef) and node.name == "step")
        first = next(at for at, node in enumerate(made.body) if not isinstance(node, ast.Nonlocal))
        before, (out, *written, _) = made.body[:first], made.body[first:]  # "out = None", the stages, "return out"
        ends_early = self.works_after or any(stage.stops for stage in self.stages)
        if self.form.guarded:
            item = made.args.args[0].arg
            before += parse_statements(f"if {item} is None or run.closed:\n    run.unwanted({item})\n    return")
        if ends_early:
            before += parse_statements("if run.last: return")
            written = [ast.While(ast.Constant(True), [*stoppable(written), ast.Break()], [])]
        tried = ast.Try(body=written or [ast.Pass()], handlers=[], orelse=[], finalbody=[])
        failed = parse_statements("failed(error)\nreturn")
        tried.handlers = [ast.ExceptHandler(parse_expression("BaseException"), "error", failed)]
        on_next = make_function("on_next", [made.args.args[0].arg], [*before, out, tried, *self.handed_on(ends_early)])
        body = [node for node in step.body if node is not made and not isinstance(node, ast.Return)]
        body = [*parse_statements("failed = run.failed_here"), *body, on_next, *parse_statements("return on_next, finish")]
        return make_function("fused", ["run", "args", "state", "down", "raised", "dropped"], body)

    def handed_on(self, ends_early: bool) -> list[ast.stmt]:
        """What becomes of the item that a step gave: it may be the last one, or dropped."""
        text = "if run.last:\n    run.give_last(out)\n    return\n" if ends_early else ""
        if any(stage.reduces for stage in self.stages):
            return parse_statements(text)  # nothing comes before the end
        text += "if out is not None:\n"
        if self.form.callback:
            text += "    if run.closed: return\n"  # its handle may be disposed inside of a stage
        if any(stage.tail_yields or stage.gives_one for stage in self.stages):
            text += "    run.emitted += 1\n"
        if self.form.callback or self.form.guarded:
            text += "    try: down(out)\n    except BaseException as error: raised(error)\n"
        else:
            text += "    down(out)\n"
        if any(stage.drops for stage in self.stages):
            text += "elif run.replenish: dropped()\n"
        return parse_statements(text)

    # -- statements of a stage -------------------------------------------------------------------------------------

    def body(self, at: int) -> list[ast.stmt]:
        loop = self.stages[at].loop
        assert loop is not None
        return loop.body

    def item(self, at: int) -> str:
        return self.rename(at, loop_name(self.stages[at]))

    def rename(self, at: int, name: str) -> str:
        return f"{name}_{at}"

    def write(self, statements: Sequence[ast.stmt], at: int, place: _Place) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for index, statement in enumerate(statements):
            following = statements[index + 1] if index + 1 < len(statements) else None
            out += self.write_one(statement, following, at, place)
        return out

    def write_one(self, statement: ast.stmt, following: ast.stmt | None, at: int, place: _Place) -> list[ast.stmt]:
        self.written += 1
        if self.written > MAX_STATEMENTS:
            raise TooLarge
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
            assert statement.value.value is not None
            value = self.renamed(statement.value.value, at)
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
        inner = _Place(place.loops + 1, place.in_main_loop)
        if inner.loops > MAX_LOOPS and isinstance(statement, (ast.For, ast.While)):
            raise TooLarge
        if isinstance(statement, ast.For):
            items = self.renamed(statement.iter, at)
            before: list[ast.stmt] = []
            if self.form.shows_inner and place.in_main_loop:
                name = f"inner_{self.written}_"
                opened = ast.Call(ast.Name("iter", ast.Load()), [items], [])
                shown = parse_statements(f"run.inner[{self.written}] = {name}")
                before = [ast.Assign([ast.Name(name, ast.Store())], opened, lineno=0), *shown]
                items = ast.Name(name, ast.Load())
            return [
                *before,
                ast.For(
                    self.renamed(statement.target, at),
                    items,
                    self.write(statement.body, at, inner) or [ast.Pass()],
                    self.write(statement.orelse, at, place),
                ),
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

    def emit(self, value: ast.expr, at: int, place: _Place) -> list[ast.stmt]:
        """What ``yield value`` of stage ``at`` becomes."""
        if at + 1 < len(self.stages):
            target = ast.Name(self.item(at + 1), ast.Store())
            told = parse_statements(f"run.reached = {at + 1}") if self.tells and place.in_main_loop else []
            return [ast.Assign([target], value, lineno=0), *told, *self.write(self.body(at + 1), at + 1, place)]
        if self.form.kind in ("step", "push"):
            return [ast.Assign([ast.Name("out", ast.Store())], value, lineno=0)]
        if self.form.kind == "value":
            return [ast.Return(value)]
        out: list[ast.stmt] = [ast.Expr(ast.Yield(value))]
        if self.form.cancel and (place.loops or not place.in_main_loop):
            out += parse_statements("if run.stopped: return")  # an expansion must not outlive a cancel
        return out

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

    def leave(self, at: int, place: _Place) -> list[ast.stmt]:
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
    def __init__(self, writer: _Writer, at: int) -> None:
        self.writer, self.at = writer, at

    def visit_Name(self, node: ast.Name) -> ast.Name:
        writer, at = self.writer, self.at
        if node.id in writer.locals[at]:
            return ast.Name(writer.rename(at, node.id), node.ctx)
        scope = getattr(writer.stages[at].function, "__globals__", {})
        if node.id not in scope:
            return node  # a builtin, or a comprehension's own variable
        name = node.id
        value = scope[name]
        for turn in count(2):
            if name not in writer.namespace:
                writer.namespace[name] = value
            if writer.namespace[name] is value:
                return ast.Name(name, node.ctx)
            name = f"{node.id}__{turn}"
        raise AssertionError  # pragma: no cover  # count() does not end
