"""Writes several stages into one function.

Stage i+1 is inlined at every ``yield`` of stage i. One writer gives all forms; they differ in what the last yield becomes and in
what the loop checks:

=======  ========================  =====================================================================
form     the last ``yield x``      for
=======  ========================  =====================================================================
pull     ``yield x``               iteration; with a cancel check inside a run
emit     a call of ``emit(x)``     a Pump: a generator that goes on while items are wanted, see :mod:`rx_core.streams.pump`
value    ``return x``              ``blocking_get`` and everything that wants one item
step     ``return x`` or None      push: one item in, at most one out, state in closures
push     a call of ``down(x)``     the same between two of ours, as the ``on_next`` itself
=======  ========================  =====================================================================

``pull`` is a ``for`` over the source or, behind one that pushes, a ``while`` over what the generator is sent. The latter gives
None where it waits, see :meth:`rx_fusion._shapes.Shape.fed`.

Here is the function around the stages; their statements are written by :mod:`rx_fusion._stage_writer`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import count
from textwrap import indent
from types import CodeType
from typing import Any

from rx_core import OPERATOR_CODES
from rx_fusion._forms import MAX_STAGES, Feed, Form
from rx_fusion._inline import expressions_in
from rx_fusion._notes import EXPRESSIONS, GENERATED
from rx_fusion._reading import PARSING
from rx_fusion._stage import Stage
from rx_fusion._stage_writer import Place, StageWriter, TooLarge
from rx_fusion._syntax import (
    assigned_last,
    loop_name,
    make_function,
    names_assigned,
    names_read,
    parse_expression,
    parse_statements,
    state_of,
    stoppable,
)

_numbers = count(1)


def compile_form(stages: Sequence[Stage], form: Form) -> Callable[..., Any]:
    """The function for ``form``. ``pull``, ``emit`` and ``value`` are called as (source, run, origin, args), ``step`` as (run,
    args, state), which returns (step, finish), with ``keeps`` (step, finish, left), and ``push`` as (run, args, state, down,
    raised, dropped), which returns (on_next, finish). ``state`` is None, or that of the same stages when they go on after a
    ``Handover``: a form that ``resumes`` takes a fifth argument, which is called with the Handover and that state for what is to
    be raised. Raises TooLarge when the stages should better be stacked."""
    import linecache  # brings tokenize: only who compiles or fails needs it

    if len(stages) > MAX_STAGES:
        raise TooLarge
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


class _Writer(StageWriter):
    """Writes the function around the statements: one method for each form."""

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
        """pull, emit and value: beginnings, the loop, ends; a failure gets its note and the source is closed."""
        begin = self.beginning()
        item, take = self.first_item()
        self.know(loop_name(self.stages[0]), 0, self.form.numbers)
        inside = [*self.guards(item), *take, *self.write(self.body(0), 0, Place(0, True)), *self.look_again()]
        loop: ast.stmt
        if self.form.feed is Feed.RUNNING:
            loop = ast.While(parse_expression(f"({item} := (yield)) is not _END"), inside, [])
        else:
            loop = ast.For(ast.Name(item, ast.Store()), ast.Name("source", ast.Load()), inside, [])
        # A stop before the loop has to skip it; inside, 'break' is enough unless a stage's own loop is around.
        main = stoppable([*begin, loop])
        if self.form.cancel and any(stage.epilogue for stage in self.stages):
            main += parse_statements("if run.stopped: return")  # cancelled with the source's last item: no ends are run
        stops = next((at for at, stage in enumerate(self.stages) if stage.stops), len(self.stages))
        if self.form.feed is not Feed.CLEAN and any(stage.tail_yields for stage in self.stages[stops + 1 :]):
            # Before what the later stages give, which may wait for demand.
            main += parse_statements("if stop >= 0: _close(source)")
        for at, stage in enumerate(self.stages):
            if stage.epilogue:
                main.append(ast.If(parse_expression(f"stop < {at}"), self.end_of(at, stage.epilogue), []))
        body: list[ast.stmt] = [*self.unpack(), *parse_statements("stop = -1")]
        if self.form.kind == "emit":
            body += parse_statements("emit = run.emit\nleft = run.left" if self.form.counts else "emit = run.emit")
        tried = ast.Try(body=main, handlers=[], orelse=[], finalbody=[])
        failed = parse_statements("_note_failure(error, origin, args)\nraise")
        tried.handlers = [ast.ExceptHandler(parse_expression("(Exception, GeneratorExit)"), "error", failed)]
        if self.form.resumes:
            state = self.state()
            body += self.cleared(state, begin)
            left = parse_statements(f"source = ()\nraise resumed(handover, ({''.join(f'{name}, ' for name in state)})) from None")
            tried.handlers.append(ast.ExceptHandler(parse_expression("_Handover"), "handover", left))
        for name in reversed(self.left):
            body += parse_statements(f"{name} = None")
            tried.finalbody += parse_statements(f"_close_left({name})")
        if self.form.feed is not Feed.CLEAN or self.form.resumes:
            tried.finalbody += parse_statements("_close(source)")
        body.append(tried)
        if self.form.kind in ("pull", "emit") and not any(isinstance(node, ast.Yield) for node in ast.walk(tried)):
            body += parse_statements("if 0: yield")
        return make_function("fused", ["source", "run", "origin", "args", *(["resumed"] if self.form.resumes else [])], body)

    def beginning(self) -> list[ast.stmt]:
        """What comes before the loops. The outermost generator of a stack starts first and starts the one before it by pulling:
        last stage first."""
        begin: list[ast.stmt] = []
        for at in reversed(range(len(self.stages))):
            begin += self.write(self.stages[at].prologue or [], at, Place(0, False))
        return begin

    def end_of(self, at: int, epilogue: Sequence[ast.stmt]) -> list[ast.stmt]:
        """What stage ``at`` does behind its loop. Its item may be none there: no item may have come."""
        self.know(loop_name(self.stages[at]), at, False)
        return stoppable(self.write(epilogue, at, Place(0, False)))

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

        They are the same, unless that stage reads its item once more behind the loop: END is not one.
        """
        item, stage = self.item(0), self.stages[0]
        if not stage.epilogue or loop_name(stage) not in names_read(stage.epilogue):
            return item, []
        return f"{item}_given", parse_statements(f"{item} = {item}_given")

    def guards(self, item: str) -> list[ast.stmt]:
        text = ""
        if self.form.cancel:
            text += f"if run.stopped:\n    _left_behind(run, {item})\n    return\n"
        if self.form.feed is Feed.CHECKED:
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
        written = self.write(self.body(0), 0, Place(0, True))
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
                ends.append(ast.If(parse_expression(f"run.stop < {at}"), self.end_of(at, stage.epilogue), []))
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
        made = [step, finish]
        if self.form.keeps:
            given = "".join(f"{self.rename(at, name)}, " for at, stage in enumerate(self.stages) for name in stage.keeps or ())
            made.append(make_function("left", [], parse_statements(f"return ({given})")))
        ends_with = parse_statements(f"return {', '.join(function.name for function in made)}")
        return make_function("fused", ["run", "args", "state"], [*before, *made, *ends_with])

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
        if self.counts:
            before = [*parse_statements("nonlocal came, mark"), *before, *parse_statements("came += 1")]
        if ends_early:
            written = [ast.While(ast.Constant(True), [*stoppable(written), ast.Break()], [])]
        conditions = None if ends_early else assigned_last("out", written)
        if conditions is None:
            if ends_early or not self.reduces:
                before.append(out)
        else:  # it has a value in any case
            for each in conditions:
                each.orelse = parse_statements("out = None")
        tried = ast.Try(body=written or [ast.Pass()], handlers=[], orelse=[], finalbody=[])
        failed = parse_statements("failed(error)\nreturn")
        tried.handlers = [ast.ExceptHandler(parse_expression("BaseException"), "error", failed)]
        on_next = make_function(
            "on_next", [made.args.args[0].arg], [*before, tried, *self.handed_on(ends_early, gives=conditions == [])]
        )
        body = [node for node in step.body if node is not made and not isinstance(node, ast.Return)]
        if self.counts:
            body = [*parse_statements("came = mark = 0"), *body]
        body = [*parse_statements("failed = run.failed_here"), *body, on_next, *parse_statements("return on_next, finish")]
        return make_function("fused", ["run", "args", "state", "down", "raised"], body)

    @property
    def reduces(self) -> bool:
        """Whether nothing comes before the end."""
        return any(stage.reduces for stage in self.stages)

    @property
    def counts(self) -> bool:
        """Whether the function counts items, to ask for others in place of those that are dropped."""
        if self.reduces and (not self.tells or all(stage.wants_all for stage in self.stages if stage.request is not None)):
            return False  # everything was asked for; in front of take it may be few
        return self.form.counts

    def handed_on(self, ends_early: bool, *, gives: bool) -> list[ast.stmt]:
        """What becomes of the item that a step gave: it may be the last one, or, unless it always ``gives`` one, dropped."""
        takes = "" if self.form.callback else ", down"  # callbacks whose handle was disposed inside of a stage get nothing more
        text = f"if run.last:\n    run.give_last(out{takes})\n    return\n" if ends_early else ""
        tally = dropped = ""
        if self.counts:
            tally = "if came >= mark:\n    mark = run.tally(came, mark)\n    if run.due: run.catch_up()\n"
            dropped = f"if run.replenish:\n    mark -= {'run.needed()' if self.tells else '1'}\n" + indent(tally, "    ")
        if self.reduces:
            return parse_statements(text + dropped)
        handed = tally
        if self.form.callback:
            handed += "if run.closed: return\n"  # its handle may be disposed inside of a stage
        if any(stage.tail_yields or stage.gives_one for stage in self.stages):
            handed += "run.emitted += 1\n"
        if self.form.callback or self.form.guarded:
            handed += "try: down(out)\nexcept BaseException as error: raised(error)\n"
        else:
            handed += "down(out)\n"
        if gives:
            return parse_statements(text + handed)
        text += "if out is not None:\n" + indent(handed, "    ")
        if dropped:
            text += f"el{dropped}"
        return parse_statements(text)
