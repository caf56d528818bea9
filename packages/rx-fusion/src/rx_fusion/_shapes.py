"""Shapes: which stages follow one another, without their arguments.

Shapes are interned in a trie while pipelines are assembled, so that ``a.map(f).filter(p)`` and ``b.map(g).filter(q)`` share one
shape, its analysis and its compiled forms, and subscribing plans nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import reduce
from itertools import count
from operator import length_hint
from typing import Any, Final, NamedTuple, final

from rx_core import close, none_produced
from rx_core.streams import END, EXACT, Stopping
from rx_fusion._forms import MAX_STAGES, NUMBERS, Feed, Form
from rx_fusion._notes import calls
from rx_fusion._stacked import bare, first_of, stacked
from rx_fusion._stage import Special, Stage, StageFunction, Step
from rx_fusion._stages import stage_of
from rx_fusion.symbols._expression import Expression, without_symbols

#: Compiling costs 170–430 µs for one to four stages, a stacked generator 10–25 ns more per stage and item. Below this many
#: items a first run stacks; a shape that is used again and again compiles whatever its size.
HOT_ELEMENTS: Final = 3_000
HOT_RUNS: Final = 8

#: Stages made for expressions are kept, as every shape is. A program that makes up more gets plain calls for the others.
MAX_SPECIALS: Final = 1_024
_specials = count(1)

#: The forms in use, by what the source gives: for one item, for iteration, inside an operator, and under a Pump: pulled where it
#: is polled or counts in its own way, else emitted, to one that wants everything or to any.
VALUE: Final = {feed: Form("value", feed) for feed in Feed}
PULL_FREE: Final = {feed: Form("pull", feed) for feed in Feed}
PULL_INSIDE: Final = {feed: Form("pull", feed, cancel=True) for feed in Feed}
PULL_DRAINED: Final = {feed: Form("pull", feed, cancel=True, mark_last=True) for feed in Feed}
EMIT_ALL: Final = {feed: Form("emit", feed, cancel=True) for feed in Feed}
EMIT: Final = {feed: Form("emit", feed, cancel=True, mark_last=True, counts=True) for feed in Feed}

#: Behind a source that pushes, sent what comes: see :meth:`Shape.fed`.
FED: Final = Form("pull", Feed.RUNNING, cancel=True, mark_last=True, shows_inner=True)

#: Called once, when it shows that this program makes short pipelines again and again.
when_hot: Final[list[Callable[[], object]]] = []


def tell_hot() -> None:
    """A shape has run as often, or a loop over inner streams is compiled."""
    if when_hot:
        waiting = when_hot[:]
        when_hot.clear()
        for told in waiting:
            told()


Pull = Callable[..., Iterator[Any]]


@final
class Front(NamedTuple):
    """A shape in two parts: see :meth:`Shape.front`."""

    stages: Shape
    #: How many of the arguments are theirs.
    size: int
    rest: Shape


class Shape:
    """A sequence of stages. Compare with ``is``: equal sequences are the same object."""

    __slots__ = (
        "_children",
        "_forms",
        "_front",
        "_runs",
        "asks_first",
        "ends_behind_head",
        "ends_with_source",
        "gives_one",
        "needs_first_only",
        "one",
        "one_for_one",
        "one_of_one",
        "parted",
        "stages",
        "stateless",
        "steps",
        "takes_all",
    )

    def __init__(self, stages: tuple[Stage, ...]) -> None:
        self.stages = stages
        self._children: dict[Step, Shape] = {}
        self._forms: dict[Form, Callable[..., Any] | None] = {}
        #: What :meth:`front` gives, once it was asked for: one, or none.
        self._front: tuple[Front, ...] | None = None
        self._runs = 0
        #: The compiled form for one item that is known, once there is one.
        self.one: Callable[..., Any] | None = None
        #: No item can come after the source's last one, so an exhausted source is the end.
        self.ends_with_source = all(stage.one_to_at_most_one for stage in stages)
        #: The same, if there is an item: what a stage gives before it (the seed of scan) has come by then. And what fills in for
        #: no item does not where one goes out: it has seen that one, or given it.
        self.ends_behind_head = not any(stage.expands or (stage.tail_yields and not stage.fills) for stage in stages)
        #: Of one item one is left at most, and of none as well.
        self.one_of_one = all(stage.one_to_at_most_one or stage.fills for stage in stages)
        #: One item at most comes out of it, whatever the source gives.
        ones = [at for at, stage in enumerate(stages) if stage.gives_one and (stage.single_tail or not stage.reduces)]
        behind_one = stages[ones[-1] + 1 :] if ones else ()
        self.gives_one = bool(ones) and all(stage.one_to_at_most_one or stage.fills for stage in behind_one)
        #: With the first item out only the ends of stages are left to run: no item of the source is looked at any more.
        self.needs_first_only = bool(ones) and not any(stage.expands or stage.head_yields for stage in behind_one)
        #: Each item gives one or none, and the source's end is the end: nothing comes before, behind or instead of it. Nor is
        #: anything left to do when an item was given.
        self.one_for_one = all(
            stage.compilable and stage.one_to_at_most_one and not (stage.stops or stage.epilogue or stage.works_after)
            for stage in stages
        )
        #: And an item is nothing to the next one, so that some may take another way than others.
        self.stateless = self.one_for_one and not any(stage_of(stage.function).prologue for stage in stages)
        #: One item in, at most one out, at most one after the end: these stages need no queue behind a source that pushes.
        self.steps = _steps(stages)
        #: How many stages come before those that see what may wait for a request: a seed, given before the first item, or what is
        #: given behind the last one, where that is several. 0: there are none that see it.
        waits = [at for at, stage in enumerate(stages, 1) if stage.head_yields or (stage.reduces and not stage.single_tail)]
        self.parted = next((at for at, stage in enumerate(stages) if at >= waits[-1] and not stage.guard), 0) if waits else 0
        #: A stage wants the whole source for what it gives, and none on the way there has enough before or asks in its own way.
        before = next((at for at, stage in enumerate(stages) if stage.wants_all), -1)
        self.takes_all = before >= 0 and not any(stage.stops or stage.request for stage in stages[:before])
        #: A stage asks by itself, whatever is requested, as in RxJava: it takes the whole of what it gets before it gives
        #: anything, or has a queue behind that of another one.
        self.asks_first = before >= 0 or sum(stage.expands or stage.head_yields for stage in stages) > 1

    def then(self, step: Step, /) -> Shape:
        """This shape with one more stage."""
        child = self._children.get(step)
        return self._grown(step) if child is None else child

    def then_with(self, function: StageFunction, args: tuple[Any, ...], /) -> tuple[Shape, tuple[Any, ...]]:
        """This shape with one more stage for these arguments: symbols become functions, and are written into the stage."""
        made = without_symbols(args)
        symbols = tuple([arg.structure if type(arg) is Expression else None for arg in made])
        return self.then(Special(function, symbols) if any(symbols) else function), made

    def joined(self, behind: Shape, /) -> Shape:
        """This shape with the stages of another one behind its own."""
        found = _joined.get((self, behind))
        if found is None:
            found = _joined[self, behind] = reduce(Shape.then, (stage.step for stage in behind.stages), self)
        return found

    def _grown(self, step: Step) -> Shape:
        # setdefault: of two threads assembling the same shape both get the same object
        if not isinstance(step, Special):
            return self._children.setdefault(step, Shape((*self.stages, stage_of(step))))
        if next(_specials) > MAX_SPECIALS:
            return self.then(step.function)
        from rx_fusion._inline import specialised  # as below

        stage = specialised(stage_of(step.function), step.symbols)
        made = self.then(step.function) if stage is None else Shape((*self.stages, stage))
        return self._children.setdefault(step, made)

    def relays_requests(self, args: tuple[Any, ...]) -> bool:
        """Whether in RxJava a request goes to the source from inside of the request: no operator asks by itself (it gives one
        item, or has a queue), and none asks for nothing."""
        at = 0
        for stage in self.stages:
            mine = args[at : at + len(stage.parameters)]
            at += len(mine)
            if stage.wants_all or stage.gives_one or stage.expands or stage.head_yields:
                return False
            if stage.tail_yields and stage.request is None:
                return False  # it goes on with another source, as default_if_empty
            if stage.request is not None and stage.request(*mine)(1) < 1:
                return False
        return True

    def __bool__(self) -> bool:
        return bool(self.stages)

    def __len__(self) -> int:
        return len(self.stages)

    def __repr__(self) -> str:
        return "·".join(stage.name for stage in self.stages) or "source"

    def __reduce__(self) -> tuple[Callable[..., Shape], tuple[tuple[Step, ...]]]:
        # Interned on the other side too: a shape travels as the functions it is made of.
        return shape_of, (tuple(stage.step for stage in self.stages),)

    def _cut(self, at: int) -> int:
        """The last place up to ``at`` where these stages may be parted: a guard stays with the stage before it."""
        while at and self.stages[at].guard:
            at -= 1
        return at

    def split(self, args: tuple[Any, ...], at: int) -> tuple[Shape, tuple[Any, ...], Shape, tuple[Any, ...]]:
        """The first ``at`` stages with their arguments, and the rest with theirs."""
        size = sum(len(stage.parameters) for stage in self.stages[:at])
        before, after = self.stages[:at], self.stages[at:]
        return (
            shape_of(tuple(stage.step for stage in before)),
            args[:size],
            shape_of(tuple(stage.step for stage in after)),
            args[size:],
        )

    def front(self) -> Front | None:
        """The stages before the first one that gives several items for one, where they need no queue behind a source that pushes:
        an item that they drop, or keep, does not go through the queue of the others."""
        found = self._front
        if found is None:
            at = next((at for at, stage in enumerate(self.stages) if stage.expands or stage.head_yields), 0)
            found = ()
            if at and _steps(self.stages[:at]):
                size = sum(len(stage.parameters) for stage in self.stages[:at])
                steps = [stage.step for stage in self.stages]
                found = (Front(shape_of(steps[:at]), size, shape_of(steps[at:])),)
            self._front = found
        return found[0] if found else None

    # -- what can be derived ---------------------------------------------------------------------------------------

    def is_hot(self, source: object) -> bool:
        """Whether compiling pays for a run over ``source`` (unknown length counts as long)."""
        self._runs += 1
        if self._runs > HOT_RUNS:
            tell_hot()
            return True
        return length_hint(source, HOT_ELEMENTS) >= HOT_ELEMENTS

    # -- forms -----------------------------------------------------------------------------------------------------

    def form(self, form: Form) -> Callable[..., Any] | None:
        """The compiled function, made at the first call; None where these stages cannot be compiled."""
        try:
            return self._forms[form]
        except KeyError:
            made: Callable[..., Any] | None = None
            if all(stage.compilable for stage in self.stages):
                from rx_fusion._compiler import compile_form  # these bring ast: only who compiles needs it
                from rx_fusion._stage_writer import TooLarge

                try:
                    made = compile_form(self.stages, form)
                except TooLarge:
                    made = self._in_two(form)
            made = self._forms.setdefault(form, made)
            if form is VALUE[Feed.CLEAN]:
                self.one = made
            return made

    def _in_two(self, form: Form) -> Callable[..., Any] | None:
        """Too much for one function: two, one behind the other, where the source may have to wait or the stages are too many to
        be stacked.

        Others are stacked, or run with a queue, and need no function. The first half says which item is the last where the second
        one gives nothing behind it.
        """
        if form.kind not in ("pull", "emit") or form.resumes:
            return None
        if form.feed is not Feed.RUNNING and len(self.stages) <= MAX_STAGES:
            return None
        at = self._cut(len(self.stages) // 2)
        if not at:
            return None
        steps = [stage.step for stage in self.stages]
        rest = shape_of(steps[at:])
        marks = form.mark_last and rest.ends_with_source
        first = shape_of(steps[:at]).form(form._replace(kind="pull", mark_last=marks, counts=False))
        second = rest.form(form if form.feed is Feed.RUNNING else form._replace(feed=Feed.CLEAN))
        if first is None or second is None:
            return None
        size = sum(len(stage.parameters) for stage in self.stages[:at])

        def both(source: Iterator[Any], run: Stopping | None, origin: Any, args: tuple[Any, ...]) -> Iterator[Any]:
            between = first(source, run, origin, args[:size])
            try:
                behind = second(between, run, origin, args[size:])
                yield from behind if form.feed is not Feed.RUNNING else _fed_on(between, behind)
            finally:
                close(between)  # where the second half failed, which is kept by the error's traceback

        return both

    def compiled(self, form: Form) -> bool:
        return self._forms.get(form) is not None

    def value(self, items: Iterator[Any], origin: Any, args: tuple[Any, ...], feed: Feed) -> Any:
        """The first item these stages give, or None; compiled where that pays. Raises what a stage raised."""
        if self is ROOT and type(items) in EXACT:  # which need not be closed
            item = next(items, END)
            if item is None:
                raise none_produced(origin.name)
            return None if item is END else item
        form = VALUE[feed]
        function = self._forms.get(form)
        if function is None and self.stages and self.is_hot(items):
            function = self.form(form)
        if function is not None:
            return function(items, None, origin, args)
        return first_of(self.pull(items, None, origin, args, PULL_FREE[feed]))

    def pull(self, items: Iterator[Any], run: Stopping | None, origin: Any, args: tuple[Any, ...], form: Form) -> Iterator[Any]:
        """Iterate these stages over ``items`` in the given form, compiled where that pays, stacked otherwise."""
        if not self.stages:
            return bare(items, run, origin, form)
        known = self._forms.get(form)
        if known is not None:
            found: Iterator[Any] = known(items, run, origin, args)
            return found
        # A last mark exists only in compiled code, and completing early must not depend on how often a shape ran before.
        marks = form.mark_last and any(stage.marks for stage in self.stages)
        if marks or len(self.stages) > MAX_STAGES or form in self._forms or self.is_hot(items):
            function = self.form(form)
            if function is not None:
                made: Iterator[Any] = function(items, run, origin, args)
                return made
        return stacked(self.stages, items, run, origin, args, form, self.ends_with_source)

    def fed(self, source: object, run: Stopping, origin: Any, args: tuple[Any, ...]) -> Generator[Any, Any, None]:
        """These stages for a source that pushes. The generator gives None where it is to be sent an item, or END; an error of the
        source is thrown into it. It closes ``source`` when the stages have had enough."""
        function = self.form(FED)
        if function is None:
            raise _has_to_be_compiled(f"{origin!r}{calls(self.stages, args)}", self.stages)
        made: Generator[Any, Any, None] = function(source, run, origin, args)
        return made

    def stacked(
        self, items: Iterator[Any], run: Stopping | None, origin: Any, args: tuple[Any, ...], form: Form
    ) -> Iterator[Any]:
        """The stage functions around one another, as they are: the oracle of every compiled form."""
        return stacked(self.stages, items, run, origin, args, form, self.ends_with_source)


def _fed_on(before: Generator[Any, Any, None], behind: Generator[Any, Any, None]) -> Generator[Any, Any, None]:
    """Two halves that are fed: what the first gives is sent to the second, and so are its end and its error."""
    try:
        given = next(behind)
        while True:
            while given is not None:
                yield given
                given = next(behind)
            try:
                made = next(before, END)
                while made is None:
                    try:
                        sent = yield None
                    except Exception as error:
                        made = before.throw(error)
                    else:
                        made = before.send(sent)
            except StopIteration:
                made = END
            except Exception as error:
                given = behind.throw(error)
                continue
            given = behind.send(made)
    except StopIteration:
        return


def _steps(stages: tuple[Stage, ...]) -> bool:
    tails = sum(stage.tail_yields for stage in stages)
    first = next((at for at, stage in enumerate(stages) if stage.tail_yields), len(stages))
    return (
        tails <= 1
        # an item that comes at the end goes out before the ends of later stages are run (count, then do_on_complete)
        and not any(stage.epilogue for stage in stages[first + 1 :])
        and all(stage.compilable and (stage.one_to_at_most_one or stage.single_tail) for stage in stages)
    )


ROOT: Final = Shape(())

#: Of two shapes, as :meth:`Shape.joined` found them. Shapes are kept for ever, so these are no more.
_joined: Final[dict[tuple[Shape, Shape], Shape]] = {}


def shape_of(steps: Iterable[Step], args: tuple[Any, ...] | None = None) -> Shape:
    """The interned shape of these stage functions; with their flat arguments, one that expressions are written into."""
    if args is None:
        return reduce(Shape.then, steps, ROOT)
    shape, at = ROOT, 0
    for step in steps:
        function = step.function if isinstance(step, Special) else step
        size = len(stage_of(function).parameters)
        shape, _ = shape.then_with(function, args[at : at + size])
        at += size
    return shape


def shape_reading(functions: Sequence[StageFunction], args: tuple[Any, ...]) -> tuple[Shape, tuple[Any, ...]]:
    """:func:`shape_of`, with functions that can be read written into it as well; and the arguments for its compiled forms.

    A function that was written in is an expression among them, every other argument is what it was.
    """
    from rx_fusion.symbols.reading import read_function  # as in form()

    read = [read_function(each) for each in args]
    shape = shape_of(functions, tuple([each or arg for each, arg in zip(read, args, strict=True)]))
    inside = [symbol for stage in shape.stages for symbol in stage.symbols or (None,) * len(stage.parameters)]
    return shape, tuple([each if symbol and each else arg for symbol, each, arg in zip(inside, read, args, strict=True)])


def constants_are_numbers(args: tuple[Any, ...]) -> bool:
    """Whether all constants of the expressions among these arguments are builtin numbers: see ``Form.numbers``."""
    return all(type(each) in NUMBERS for arg in args if isinstance(arg, Expression) for each in arg.args)


def _has_to_be_compiled(pipeline: str, stages: tuple[Stage, ...]) -> TypeError:
    plain = [stage for stage in stages if not stage.compilable]
    why = ", ".join(dict.fromkeys(f"{stage.name} {stage.uncompiled}" for stage in plain)) or "its stages are too large together"
    around = dict.fromkeys(name for stage in plain for name in stage.function.__code__.co_freevars)
    remedy = (
        f"Make {', '.join(around)} an argument of the stage"  # 0007: what is not in its text cannot be written elsewhere
        if around
        else "Define the stage in a module file"
    )
    return TypeError(
        f"{pipeline} cannot run: {why}, and its source may have to wait.\n  {remedy}, or use it only over plain iterables."
    )
