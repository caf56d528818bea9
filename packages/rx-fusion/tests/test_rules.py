"""The registry of macro-fusion rules: who is asked, in which order, and what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rx_core import hookimpl, hooks, manager
from rx_fusion import Head, IterableHead, Rule, Shape, fusion_off, register_rules, replaced, rules, shape_of, without_rules
from rx_fusion import _rules as registry
from rx_ops import Flowable, stages
from rx_testing import TestSubscriber

Plan = tuple[Head, Shape, tuple[Any, ...]]


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    hooks.ensure_loaded()
    before = list(registry._registered)
    yield
    registry._registered[:] = before
    registry._rebuild()


class Plugin:
    def __init__(self, *offered: object) -> None:
        self.offered = offered

    @hookimpl
    def rx_fusion_rules(self) -> list[object]:
        return list(self.offered)


def _numbers(name: str, limit: int) -> Rule:
    """A rule that makes any ``wide`` source one of ``limit`` numbers, once."""

    def apply(head: Head, shape: Shape, args: tuple[Any, ...]) -> Plan | None:
        return IterableHead("narrow", range(limit), "narrow()"), shape, args

    return Rule(name, "wide = narrow", "a test", apply, heads=("wide",))


def wide() -> Flowable[int]:
    return Flowable._from(IterableHead("wide", [1, 2], "wide()"))


def test_a_rule_of_a_plugin_is_used_while_the_plugin_is_there() -> None:
    flow = wide().map(str)
    assert flow.blocking_list() == ["1", "2"]
    with manager().enable(Plugin(_numbers("mine", 1))):
        assert flow.blocking_list() == ["0"]
        assert "rewritten: mine" in flow.explain()
        assert repr(flow) == "wide().map(str)"
    assert flow.blocking_list() == ["1", "2"]
    assert "mine" not in [rule.name for rule in rules()]


def test_a_plain_function_is_a_rule_that_is_always_asked() -> None:
    asked: list[str] = []

    def watching(head: Head, shape: Shape, args: tuple[Any, ...]) -> None:
        asked.append(head.name)

    with manager().enable(Plugin(watching)):
        Flowable.from_iterable([1]).map(str).blocking_list()
        Flowable.of(1, 2).blocking_list()
    assert {"from_iterable", "of"} <= set(asked)


def test_a_plain_function_is_asked_once_and_may_return_the_same_again() -> None:
    def again(head: Head, shape: Shape, args: tuple[Any, ...]) -> Plan | None:
        return (IterableHead("wide", [7], "wide()"), shape, args) if head.name == "wide" else None

    with manager().enable(Plugin(again)):
        assert wide().blocking_list() == [7]


def test_something_else_is_no_rule() -> None:
    with pytest.raises(TypeError, match="a fusion rule is a Rule or a function"), manager().enable(Plugin("take.take")):
        Flowable.of(1, 2).map(str).blocking_list()


def test_plugins_come_before_libraries_and_each_in_its_order() -> None:
    register_rules(_numbers("library", 3))
    assert wide().blocking_list() == [0, 1, 2]
    with manager().enable(Plugin(_numbers("plugin", 1), _numbers("second", 2))):
        assert wide().blocking_list() == [0]
        assert wide()._rules_applied() == ("plugin",)
        with without_rules("plugin"):
            assert wide().blocking_list() == [0, 1]
        with without_rules("plugin"), without_rules("second"):
            assert wide().blocking_list() == [0, 1, 2]
        with without_rules():
            assert wide().blocking_list() == [1, 2]
            assert rules() == ()


def test_rules_about_a_librarys_own_sources_come_before_those_of_other_libraries() -> None:
    register_rules(_numbers("library", 3), _numbers("other", 2))
    register_rules(_numbers("mine", 0), _numbers("also mine", 1), first=True)
    names = [rule.name for rule in rules()]
    assert (names[:2], names[-2:]) == (["mine", "also mine"], ["library", "other"])
    assert wide().blocking_list() == []


def test_a_name_is_there_once() -> None:
    register_rules(_numbers("mine", 1))
    with pytest.raises(ValueError, match="'mine' is registered already"):
        register_rules(_numbers("mine", 2))


def test_a_rule_that_is_not_there_cannot_be_left_out() -> None:
    with pytest.raises(ValueError, match="no such rule: nonsense"), without_rules("nonsense"):
        pass


def test_blocks_without_rules_may_end_in_any_order() -> None:
    """As those of two threads do: what is left out is so for the process."""
    register_rules(_numbers("mine", 1), _numbers("second", 2))
    one, both, none = without_rules("mine"), without_rules("mine", "second"), without_rules()
    one.__enter__()
    both.__enter__()
    assert wide().blocking_list() == [1, 2]
    none.__enter__()
    one.__exit__(None, None, None)
    both.__exit__(None, None, None)
    assert rules() == ()
    none.__exit__(None, None, None)
    assert wide().blocking_list() == [0]


def test_without_fusion_no_rule_is_asked() -> None:
    register_rules(_numbers("mine", 1))
    flow = wide()
    with fusion_off():
        assert flow.blocking_list() == [1, 2]
    assert flow.blocking_list() == [0]


def test_rules_that_go_round_in_circles_are_named() -> None:
    def swap(name: str) -> Callable[[Head, Shape, tuple[Any, ...]], Plan]:
        return lambda _head, shape, args: (IterableHead(name, [1], f"{name}()"), shape, args)

    register_rules(
        Rule("there", "a = b", "", swap("back"), heads=("wide",)), Rule("back", "b = a", "", swap("wide"), heads=("back",))
    )
    with pytest.raises(RuntimeError, match="round in circles: there, back for "):
        wide().explain()


@pytest.mark.parametrize("made", [5, (), ("head", "shape"), [1, 2, 3]], ids=repr)
def test_a_rule_that_returns_something_else_is_named(made: Any) -> None:
    register_rules(Rule("odd", "", "", lambda _head, _shape, _args: made, heads=("wide",)))
    with pytest.raises(TypeError, match=r"the fusion rule 'odd' has to return \(head, shape, args\) or None"):
        wide().blocking_list()


def test_what_a_rule_raises_names_it() -> None:
    def fail(_head: Head, _shape: Shape, _args: tuple[Any, ...]) -> None:
        raise LookupError("nothing there")

    register_rules(Rule("odd", "", "", fail, heads=("wide",)))
    with pytest.raises(LookupError) as caught:
        wide().blocking_list()
    assert caught.value.__notes__ == ["in the fusion rule 'odd'"]


@pytest.mark.parametrize("heads", [("wide",), ()])
@pytest.mark.parametrize("plugins", [True, False])
def test_what_a_rule_raises_is_signalled_to_who_subscribes(
    heads: tuple[str, ...], plugins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RS 1.9: subscribe() itself raises for nothing but a missing subscriber."""

    def fail(head: Head, _shape: Shape, _args: tuple[Any, ...]) -> None:
        if head.name == "wide":
            raise LookupError("nothing there")

    hooks.ensure_loaded()
    if not plugins:
        monkeypatch.setattr(hooks, "fusion_rules", ())
    register_rules(Rule("odd", "", "", fail, heads=heads))
    subscriber = TestSubscriber[Any]()
    wide().subscribe(subscriber)
    subscriber.assert_failure(LookupError)
    assert subscriber.error is not None
    assert subscriber.error.__notes__ == ["in the fusion rule 'odd'"]
    subscriber = TestSubscriber[Any]()
    Flowable.merge(wide(), Flowable.never()).subscribe(subscriber)
    subscriber.assert_failure(LookupError)


def test_a_rule_that_could_never_apply_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"rule 'odd': heads has to be a tuple of names, not 'wide'.\n  Right:  heads=\('wide',\)"
    ):
        register_rules(Rule("odd", "", "", lambda _h, _s, _a: None, heads="wide"))  # type: ignore[arg-type]  # the mistake
    with pytest.raises(TypeError, match=r"rule 'odd': stages has to be a tuple of stages"):
        register_rules(Rule("odd", "", "", lambda _h, _s, _a: None, stages=(len,)))  # type: ignore[arg-type]  # the mistake
    plugged = Rule("odd", "", "", lambda _h, _s, _a: None, stages=stages.map_)  # type: ignore[arg-type]  # the mistake
    with pytest.raises(TypeError, match=r"rule 'odd': stages has to be a tuple of stages"), manager().enable(Plugin(plugged)):
        wide().blocking_list()


def test_what_was_found_is_kept_with_the_pipeline() -> None:
    calls: list[int] = []

    def counting(head: Head, shape: Shape, args: tuple[Any, ...]) -> None:
        calls.append(1)

    register_rules(Rule("counting", "a = a", "", counting, heads=("wide",)))
    flow = wide().map(str)
    for _ in range(3):
        flow.blocking_list()
    assert calls == [1]
    with without_rules("take.take"):
        flow.blocking_list()
    assert calls == [1, 1]


@pytest.mark.parametrize(
    ("heads", "wanted", "name", "shape", "answer"),
    [
        ((), (), "of", (), True),
        (("of",), (), "of", (stages.map_,), True),
        (("of",), (), "range", (), False),
        ((), (stages.take, stages.take), "of", (stages.take, stages.map_, stages.take), False),
        ((), (stages.take, stages.take), "of", (stages.map_, stages.take, stages.take), True),
        (("of",), (stages.take,), "of", (stages.map_, stages.take), False),
        (("of",), (stages.take,), "of", (stages.take, stages.map_), True),
    ],
)
def test_where_a_rule_looks(
    heads: tuple[str, ...], wanted: tuple[Any, ...], name: str, shape: tuple[Any, ...], answer: bool
) -> None:
    rule = Rule("x", "a = b", "", lambda *_plan: None, heads=heads, stages=wanted)
    assert rule.looks_at(name, shape_of(shape)) is answer


def test_replacing_stages_keeps_the_arguments_of_the_others() -> None:
    shape = shape_of((stages.scan_seed, stages.take, stages.distinct, stages.take, stages.map_))
    args = ("f", 0, 5, 3, "g")
    for _ in range(2):  # the second time from what is kept
        made, left = replaced(shape, args, 1, 3, (stages.skip, (7,)))
        assert (made, left) == (shape_of((stages.scan_seed, stages.skip, stages.map_)), ("f", 0, 7, "g"))
        made, left = replaced(shape, args, 2, 1)
        assert (made, left) == (shape_of((stages.scan_seed, stages.take, stages.take, stages.map_)), ("f", 0, 5, 3, "g"))
        made, left = replaced(shape, args, 0, 1, (stages.map_, ("h",)), (stages.scan_seed, ("i", 2)))
        assert left == ("h", "i", 2, 5, 3, "g")
        assert made is shape_of((stages.map_, stages.scan_seed, *[stage.function for stage in shape.stages[1:]]))
