"""Macro-fusion: rules that look at a whole pipeline and say what to run instead.

A rule is data. It names the equation it relies on and what it saves, says where it could apply, so that other pipelines are not
asked, and has a function from a plan (head, shape, arguments) to another plan, or None. Rules come from plugins (the hook
``rx_fusion_rules``; first, because they know their own sources best) and from libraries (:func:`register_rules`).

They are applied when a pipeline is subscribed and not when it is built: a description stays what the user wrote, ``repr`` shows
that, ``explain()`` shows what runs and which rules made it so, and the switches work. What was found for a pipeline is kept with
it. See docs/decisions/0012-macro-fusion.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rx_core import add_note, hooks
from rx_fusion._shapes import Shape, shape_of
from rx_fusion._stage import StageFunction
from rx_fusion._stages import is_stage

if TYPE_CHECKING:
    from rx_fusion._heads import Head, Resolved

RuleFunction = Callable[["Head", Shape, tuple[Any, ...]], "Resolved | None"]

#: A plan that still changes after so many rules is going round in circles.
_ENOUGH: Final = 100


class Rule(NamedTuple):
    """One equation between pipelines.

    ``apply(head, shape, args)`` returns another plan with the same signals, the same calls of the same functions on the same
    threads and the same demand; None where it does not apply. It must depend on nothing but the description, and terminate: what
    it returns has to be smaller or of another kind.
    """

    #: As ``explain()`` shows it.
    name: str
    #: What is equal to what, and on which conditions.
    equation: str
    #: What is saved.
    why: str
    apply: RuleFunction
    #: Names of the heads it is about; empty: any.
    heads: tuple[str, ...] = ()
    #: Stages that must follow one another: right behind the head where ``heads`` says which, else anywhere in the shape.
    stages: tuple[StageFunction, ...] = ()
    #: Asked again when it has changed something; else once for a pipeline.
    again: bool = True

    def looks_at(self, name: str, shape: Shape) -> bool:
        """Whether it could apply to a head of this name with this shape."""
        if self.heads and name not in self.heads:
            return False
        wanted = self.stages
        found = tuple(stage.function for stage in shape.stages)
        starts = range(1) if self.heads else range(len(found) - len(wanted) + 1)
        return any(found[at : at + len(wanted)] == wanted for at in starts)


class RuleSet:
    """Rules in their order, with what is known of where they could apply. Replaced as a whole when rules change."""

    __slots__ = ("by_name", "others", "plugged", "rules")

    def __init__(self, plugged: tuple[object, ...], rules: Sequence[Rule]) -> None:
        #: The plugins' rules, as the hook has them: when that tuple is another one, this set is out of date.
        self.plugged = plugged
        self.rules = tuple(rules)
        self.by_name: dict[str, dict[Shape, tuple[Rule, ...]]] = {name: {} for rule in rules for name in rule.heads}
        self.others: dict[Shape, tuple[Rule, ...]] = {}

    def about(self, head: Head, shape: Shape) -> tuple[Rule, ...]:
        """The rules that could apply; for nearly all pipelines none."""
        known = self.by_name.get(head.name, self.others)
        found = known.get(shape)
        if found is None:
            name = head.name
            found = known[shape] = tuple([rule for rule in self.rules if rule.looks_at(name, shape)])
        return found


_registered: list[Rule] = []
#: What each block of :func:`without_rules` leaves out; None: all. They may overlap in any way, being of several threads.
_left_out: Final[dict[object, frozenset[str] | None]] = {}
_building: Final = RLock()
#: What to use, unless the plugins have changed since; see :func:`active`.
current = RuleSet((), ())


def register_rules(*rules: Rule, first: bool = False) -> None:
    """Add the rules of a library, behind those that are there or, with ``first``, before them: rules about the library's own
    sources, which it brings when the first of these is made. Raises ValueError for a name that is taken."""
    with _building:
        for at, rule in enumerate(rules):
            if any(rule.name == each.name for each in _registered):
                raise ValueError(f"a rule named {rule.name!r} is registered already")
            _registered.insert(at if first else len(_registered), _checked(rule))
        _rebuild()


def rules() -> tuple[Rule, ...]:
    """All rules in the order they are tried, those left out by :func:`without_rules` excepted."""
    hooks.ensure_loaded()
    return active().rules


@contextmanager
def without_rules(*names: str) -> Iterator[None]:
    """Leave out these rules, or all of them when none is named, for what is subscribed inside the block, in any thread."""
    unknown = set(names) - {rule.name for rule in _all()}
    if unknown:
        raise ValueError(f"no such rule: {', '.join(sorted(unknown))}.\n  There are:  {', '.join(rule.name for rule in _all())}")
    block = object()
    with _building:
        _left_out[block] = frozenset(names) or None
        _rebuild()
    try:
        yield
    finally:
        with _building:
            del _left_out[block]
            _rebuild()


def active() -> RuleSet:
    """The rules to use now."""
    found = current
    return found if found.plugged is hooks.fusion_rules else _rebuild()


def _all() -> list[Rule]:
    return [*map(_as_rule, hooks.fusion_rules), *_registered]


def _rebuild() -> RuleSet:
    global current
    with _building:  # who comes last knows of all blocks
        plugged = hooks.fusion_rules
        left_out = list(_left_out.values())
        found = [rule for rule in _all() if not any(names is None or rule.name in names for names in left_out)]
        current = made = RuleSet(plugged, found)
    return made


def _as_rule(found: object) -> Rule:
    """A plugin may also give a plain function; it is asked about every pipeline, once."""
    if isinstance(found, Rule):
        return _checked(found)
    if not callable(found):
        raise TypeError(f"a fusion rule is a Rule or a function of (head, shape, args), not {found!r}")
    name = getattr(found, "__name__", type(found).__name__)
    return Rule(name, "", "", found, again=False)


def _checked(rule: Rule) -> Rule:
    """A rule that says in a wrong way where it looks would never be asked, and that would not be noticed."""
    heads: object = rule.heads
    if not isinstance(heads, tuple) or not all(isinstance(name, str) for name in heads):
        right = f"\n  Right:  heads=({heads!r},)" if isinstance(heads, str) else ""
        raise TypeError(f"rule {rule.name!r}: heads has to be a tuple of names, not {heads!r}.{right}")
    wanted: object = rule.stages
    if not isinstance(wanted, tuple) or not all(map(is_stage, wanted)):
        raise TypeError(
            f"rule {rule.name!r}: stages has to be a tuple of stages, not {wanted!r}.\n"
            f"  For example:  stages=(rx_ops.stages.map_,)"
        )
    return rule


def _applied(rule: Rule, plan: Resolved) -> Resolved | None:
    try:
        made: object = rule.apply(*plan)
    except Exception as error:
        add_note(error, f"in the fusion rule {rule.name!r}")
        raise
    if made is None:
        return None
    if isinstance(made, tuple) and len(made) == 3 and isinstance(made[1], Shape):
        return made
    raise TypeError(f"the fusion rule {rule.name!r} has to return (head, shape, args) or None, and returned {made!r}")


def rewritten(plan: Resolved, candidates: tuple[Rule, ...], found: RuleSet) -> tuple[Resolved, tuple[str, ...]]:
    """``plan`` after all rules, each tried again after another one has changed something; and which they were."""
    names: tuple[str, ...] = ()
    turns = 0
    while candidates:
        for rule in candidates:
            if not rule.again and rule.name in names:
                continue
            made = _applied(rule, plan)
            if made is not None:
                break
        else:
            break
        plan = made
        if rule.name not in names:
            names = (*names, rule.name)
        turns += 1
        if turns > _ENOUGH:
            raise RuntimeError(f"fusion rules go round in circles: {', '.join(names)} for {plan[0]!r}")
        candidates = found.about(plan[0], plan[1])
    return plan, names


def replaced(
    shape: Shape, args: tuple[Any, ...], at: int, count: int, *others: tuple[StageFunction, tuple[Any, ...]]
) -> tuple[Shape, tuple[Any, ...]]:
    """``shape`` with other stages, each with its arguments, in place of ``count`` stages from ``at`` on. For rules."""
    functions = [function for function, _ in others]
    key = (shape, at, count, *functions)
    known = _replacements.get(key)
    if known is None:
        stages = shape.stages
        start = sum(len(stage.parameters) for stage in stages[:at])
        end = start + sum(len(stage.parameters) for stage in stages[at : at + count])
        steps = [stage.step for stage in stages]
        made = shape_of([*steps[:at], *functions, *steps[at + count :]])
        known = _replacements[key] = (made, start, end)
    made, start, end = known
    for _, mine in others:
        args = args[:start] + mine + args[end:]
        start += len(mine)
        end = start
    return made, args if others else args[:start] + args[end:]


#: Shapes are kept for ever, and so is what becomes of them.
_replacements: Final[dict[tuple[Any, ...], tuple[Shape, int, int]]] = {}
