"""Comparing the library with the reference, in all forms; what is said of a difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tests.invisible.push.clock import Clock
from tests.invisible.push.describing import program
from tests.invisible.push.library import FAILED, FORMS, FUSED, ITERATED, Form, possible_forms, respond
from tests.invisible.push.reading import OBSERVABLE, RXJAVA, Variant, names, unheard
from tests.invisible.push.running import Demanding, Endless, demanding, described, refer, refer_in_a_loop
from tests.invisible.push.shrinking import shrunk
from tests.invisible.push.streams import UNBOUNDED
from tests.recorded.cases import Answer, Spec, Trace

#: Ways to fetch items that must not matter: RxJava's own, with and without what it fuses; and of a source that computes what is
#: requested nothing before it is wanted, nor the end, which only its functions can notice.
FETCHING: Final = (
    *(RXJAVA, Variant(pulls=None), Variant(pulls="through")),
    *(Variant(pulls="through", ahead=False), Variant(pulls="through", ends_late=True)),
    Variant(pulls="through", ahead=False, ends_late=True),  # both at once, as of such a source in a merge
)
#: For a subscriber that does not request everything, how many items are prefetched, and which wait longest, must not matter.
PREFETCHING: Final = (
    *FETCHING,
    *(Variant(prefetch=1), Variant(prefetch=UNBOUNDED), Variant(waiting="first"), Variant(waiting="last")),
)
OBSERVING: Final = tuple(replace(OBSERVABLE, pulls=each.pulls, ahead=each.ahead, ends_late=each.ends_late) for each in FETCHING)

#: Behind these, and where windows or groups are flattened, items may wait for an operator that asks for a few at a time. Which
#: come first must not matter, as no rule says it: those of which source, or those that came first.
MERGING: Final = frozenset(
    (
        *("merge", "merge_de", "merge_with", "flat_map", "flat_map_m", "flat_map_s", "delay_sel"),
        *("twice", "publish_sel", "replay_sel", "switch_on_first"),
    )
)

#: A cancel may stop what follows it: a predicate that is asked behind an item, the making of a source whose subscriber leaves
#: with what it is given first (the seed of a scan), and the start of one that is shared, for a subscriber that leaves with its
#: subscription, as one whose do_on_subscribe fails. It shows in the next subscription: how many calls there are, and since when.
HEEDING: Final = frozenset(("take_until_p", "attempt", "do_on_subscribe"))

#: Kinds of subjects whose subscribers get what was before with their request.
REPLAYING: Final = frozenset(("replay", "replay1"))


@dataclass(frozen=True)
class Difference:
    """A form of a case is not what the reference says."""

    case: Trace
    form: Form
    expected: Answer
    got: Answer

    def __str__(self) -> str:
        return f"{self.form}:\n{program(self.case)}\n  reference  {self.expected}\n  library    {self.got}\n{self.case}"


def anywhere(holds: Callable[[Spec], bool], described: Any) -> bool:
    """Whether that holds for a source or an operator of a case."""
    if isinstance(described, Mapping):
        return holds(described) or any(anywhere(holds, each) for each in described.values())
    return isinstance(described, (list, tuple)) and any(anywhere(holds, each) for each in described)


def name(described: Spec) -> Any:
    """Of a source or an operator."""
    return described.get("s", described.get("o"))


def compared(case: Trace, answer: Answer) -> Answer:
    """Without what comes of the last request: skip_last(seconds) looks at the clock with it, but not every operator behind it
    passes on a request that adds nothing."""
    if "skip_last_time" not in names((case.source, case.operators)):
        return answer
    kept = {name: [signal for signal in signals if signal[0] < case.horizon] for name, signals in answer.items()}
    return {name: signals for name, signals in kept.items() if signals}


def ends_at_once(signals: Sequence[Sequence[Any]]) -> bool:
    return bool(signals) and signals[-1][0] == 0 and not signals[-1][1].startswith("next")


class Judge:
    """The reference's view of cases."""

    def expected(self, case: Trace, form: Form, answer: Callable[[Trace, Variant], Answer] = refer) -> Answer | None:
        """What the case has to answer. None where that depends on how items are fetched, or where it goes on for ever."""
        variants = OBSERVING if form.observable else PREFETCHING if form.iterated or demanding(case) else FETCHING
        streams = (case.source, case.operators)
        if anywhere(unheard, streams):
            variants = (*variants, replace(variants[0], late=True))
        if anywhere(lambda described: name(described) in MERGING or "fl" in described, streams):
            variants = (*variants, *(replace(variants[0], waiting=waiting) for waiting in ("first", "last", "came")))
            variants = (*variants, replace(variants[0], asks_later=True))  # what sources signal at one instant has no order
        if anywhere(lambda described: name(described) in HEEDING, streams):
            variants = (*variants, replace(variants[0], heeds=True))
        if anywhere(lambda described: name(described) == "skip", streams):
            variants = (*variants, *(replace(each, skips_on_request=True) for each in variants))
        if anywhere(lambda described: name(described) == "skip_last_time", streams):
            variants = (*variants, *(replace(each, drops_at_end=True) for each in variants))
        if anywhere(lambda described: name(described) == "concat_map_eager" and described.get("de") == "boundary", streams):
            variants = (*variants, *(replace(each, first_at_once=True) for each in variants))
        if any(source.kind in REPLAYING for source in case.hot):
            variants = (*variants, replace(variants[0], joins_first=True))
        try:
            answers = [compared(case, answer(case, variant)) for variant in variants]
        except Endless:
            return None
        return answers[0] if all(answer == answers[0] for answer in answers) else None

    def iterated(self, case: Trace, expected: Answer) -> Answer | None:
        """What a loop gets. None where time has a part in it, or where it matters how far a subscriber is ahead."""
        clock = Clock()
        refer(case, clock=clock)
        if clock.planned or not ends_at_once(expected.get("d0", [])) or described(case).kind != "flowable":
            return None
        one_by_one = replace(case, subscribers=(Demanding("d0", 0, None, None, first=1, with_each=1),))
        pulled, in_a_loop = self.expected(one_by_one, FUSED), self.expected(case, ITERATED, refer_in_a_loop)
        return expected if pulled == expected == in_a_loop else None

    def differences(self, case: Trace, forms: Sequence[Form] = FORMS) -> list[Difference]:
        found: list[Difference] = []
        expectations: dict[bool, Answer | None] = {}
        for form in possible_forms(case):
            if form not in forms:
                continue
            if form.observable not in expectations:
                expectations[form.observable] = self.expected(case, form)
            expected = expectations[form.observable]
            if form.iterated and expected is not None:
                expected = self.iterated(case, expected)
            if expected is None:
                continue
            got = compared(case, respond(case, form))
            if got != expected:
                found.append(Difference(case, form, expected, got))
        return found

    def smallest(self, difference: Difference, most: int = 2_000) -> Difference:
        """The same difference in a smaller case, as far as one is found."""

        def found(case: Trace) -> Difference | None:
            try:
                made = self.differences(case, [difference.form])
            except Exception:  # what is left makes no sense
                return None
            alike = [each for each in made if each.got.get(FAILED) == difference.got.get(FAILED)]
            return alike[0] if alike else None

        case = shrunk(difference.case, lambda case: found(case) is not None, most)
        return found(case) or difference
