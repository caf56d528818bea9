"""Every argument of every public method, given something that it cannot be: the error comes at once and names the operator.

The methods are not listed here but found, so that a new one is asked as well. What a parameter would accept is said by its name,
or by its annotation; where anything is right there is a line in ``ANYTHING``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from rx_core import Items, Run, Source
from rx_fusion import operator, stage
from rx_ops import BackpressureStrategy, Completable, Flowable, Maybe, Observable, Single
from rx_testing import VirtualScheduler

RECEIVERS: Final[dict[type[Any], Any]] = {
    Flowable: Flowable.of(1, 2).map(int),  # on_error_continue is about what is in front of it
    Observable: Observable.of(1, 2).map(int),
    Single: Single.just(1),
    Maybe: Maybe.just(1),
    Completable: Completable.complete(),
}
CLOCK: Final = VirtualScheduler()


class Wrong:
    """Neither a number nor a function, a source, a scheduler, a class or anything else that is asked for."""

    def __repr__(self) -> str:
        return "<something else>"


#: Parameters that take any object: items, seeds, what goes to a user's function.
ANYTHING: Final = {
    ("just", "item"),
    ("of", "items"),
    ("start_with", "items"),
    ("default_if_empty", "item"),
    ("with_context", "values"),
    ("to_single_default", "item"),
    ("first", "default"),
    ("last", "default"),
    ("single", "default"),
    ("contains", "value"),
    ("reduce", "seed"),
    ("sample_reservoir", "seed"),
    ("scan", "seed"),
    ("sum", "start"),
    ("pipe", "args"),
    ("pipe", "kwargs"),
    ("stage", "args"),
    ("stage", "kwargs"),
    ("through", "args"),
    ("through", "kwargs"),
}
#: Who answers for whom: Python's own range() has the better words for its arguments, and a loop is an iterator's.
ANSWERED_BY: Final = {"range": "integer", "blocking_for_each": r"blocking_(iter|for_each)\("}
#: What another option has to stand beside, so that the one that is asked about is looked at.
BESIDE: Final[dict[tuple[str, str], dict[str, Any]]] = {
    ("buffer", "every"): {"seconds": 1.0},
    ("buffer", "count"): {"seconds": 1.0},
    ("buffer", "opening"): {"closing": lambda _item: Flowable.never()},
    ("delay", "subscription"): {"selector": lambda _item: Flowable.never()},
    ("take_last", "count"): {"seconds": 1.0},
    ("timeout", "first"): {"selector": lambda _item: Flowable.never()},
    ("timeout", "fallback"): {"seconds": 1.0},
}
BESIDE.update({("window", name): options for (method, name), options in list(BESIDE.items()) if method == "buffer"})
#: Methods whose time may be left out: with a scheduler or a function for what is dropped they need it.
TIMED: Final = {"buffer", "window", "take", "skip", "take_last", "skip_last", "delay", "timeout", "sample", "debounce"}
TIMED.add("delay_subscription")


@stage
def kept(source: Any) -> Iterator[Any]:
    for item in source:
        if item:
            yield item


@operator
def alike(run: Run, source: Source[Any]) -> Items[Any]:
    yield from source


def right(face: type[Any], parameter: inspect.Parameter) -> Any:
    """Something that the parameter accepts."""
    name, annotation = parameter.name, str(parameter.annotation)
    if re.match(r"Callable|Supplier", annotation) or name in ("handler", "combiner", "key"):
        return lambda *_items: None
    if "Iterable" in annotation:
        return [1]
    if re.match(r"(Publisher|\w+Source|(Single|Maybe|Completable)Base)\b", annotation):
        return RECEIVERS[face]
    by_name: dict[str, Any] = {
        "seconds": 1.0,
        "first": 0.25,
        "times": 1,
        "count": 200,
        "start": 1,
        "stop": 1,
        "step": 1,
        "index": 1,
        "item": 1,
        "items": 1,
        "kind": int,
        "error": OSError("as asked"),
        "scheduler": CLOCK,
        "strategy": BackpressureStrategy.BUFFER,
    }
    return by_name[name] if name in by_name else RECEIVERS[face]


def required(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD


def call(face: type[Any], method: str, wrong: str) -> object:
    bound, args, options = call_of(face, method, wrong)
    return bound(*args, **options)


def call_of(face: type[Any], method: str, wrong: str) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    """``method`` with something wrong for one parameter, and what is right for the others that it needs."""
    attribute = inspect.getattr_static(face, method)
    bound = getattr(face if isinstance(attribute, (classmethod, staticmethod)) else RECEIVERS[face], method)
    parameters = list(inspect.signature(bound).parameters.values())
    places = [each.name for each in parameters if each.kind is each.POSITIONAL_ONLY]
    args: list[Any] = []
    options = {
        name: value for name, value in BESIDE.get((method, wrong), {}).items() if name in inspect.signature(bound).parameters
    }
    if wrong in ("scheduler", "on_drop") and method in TIMED and "seconds" in inspect.signature(bound).parameters:
        options["seconds"] = 1.0
    for parameter in parameters:
        name = parameter.name
        value = Wrong() if name == wrong else options.pop(name, right(face, parameter) if required(parameter) else ...)
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += [RECEIVERS[face], value]
        elif parameter.kind is not parameter.POSITIONAL_ONLY:
            if value is not ...:
                options[name] = value
        elif value is not ...:
            args.append(value)
        elif wrong in places[places.index(name) :]:
            args.append(parameter.default)
    return bound, args, options


def cases() -> Iterator[Any]:
    for face in RECEIVERS:
        for method in dir(face):
            if method.startswith("_") or method == "subscribe_actual":  # it is called by subscribe(), which has looked
                continue
            for parameter in inspect.signature(getattr(face, method)).parameters.values():
                name = parameter.name
                if name in ("self", "cls") or (method, name) in ANYTHING or "bool" in str(parameter.annotation):
                    continue  # whether something is true can be asked of any object
                yield pytest.param(face, method, name, id=f"{face.__name__}.{method}-{name}")


@pytest.mark.parametrize(("face", "method", "name"), list(cases()))
def test_a_wrong_argument_raises_at_once_and_the_operator_is_named(face: type[Any], method: str, name: str) -> None:
    with pytest.raises(TypeError, match=ANSWERED_BY.get(method, rf"{method}\(")):
        call(face, method, name)


@pytest.mark.parametrize("wrong", ["io", CLOCK.create_worker, 1.0])
@pytest.mark.parametrize(
    ("build", "right_call"),
    [
        (lambda flow, it: flow.observe_on(it), r"\.observe_on\(rx_(schedulers\.io\(\)|core\.scheduler\('io'\))\)"),
        (lambda flow, it: flow.subscribe_on(it), r"\.subscribe_on\(rx_(schedulers\.io\(\)|core\.scheduler\('io'\))\)"),
        (
            lambda flow, it: flow.sample(0.5, scheduler=it),
            r"\.sample\(\.\.\., scheduler=rx_(schedulers\.io\(\)|core\.scheduler\('io'\))\)",
        ),
        (lambda flow, it: flow.publish().ref_count(1, 0.5, scheduler=it), r"\.ref_count\(\.\.\., scheduler="),
    ],
)
def test_what_is_no_scheduler_is_told_what_to_write(build: Callable[[Any, Any], Any], right_call: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=rf"expected a scheduler, got (.|\n)*{right_call}"):
        build(Flowable.of(1, 2), wrong)


def test_what_is_no_class_is_told_what_to_write() -> None:
    flow: Any = Flowable.of(1, 2)
    for wrong in (5, "int", list[int], (int, "str")):
        for name in ("cast", "of_type"):
            with pytest.raises(TypeError, match=rf"{name}\(\) expected a class(.|\n)*\.{name}\(int\)"):
                getattr(flow, name)(wrong)
    assert flow.of_type(int | str).cast((int, float)).blocking_list() == [1, 2]


def test_a_value_without_a_key_and_a_step_without_an_end_are_not_overlooked() -> None:
    flow: Any = Flowable.of(1, 2)
    with pytest.raises(TypeError, match=r"to_dict\(\) expected a function as key, got None"):
        flow.to_dict(None, str)
    with pytest.raises(TypeError, match="integer"):
        Flowable.range(5, None, 2)


def test_a_plain_function_is_no_stage_and_no_operator() -> None:
    flow: Any = Flowable.of(1, 2)
    assert flow.stage(kept).through(alike).blocking_list() == [1, 2]
    with pytest.raises(TypeError, match=r"is not a stage(.|\n)*@stage"):
        flow.stage(list)
    with pytest.raises(TypeError, match=r"is not a coordinating operator(.|\n)*@operator"):
        flow.through(list)
