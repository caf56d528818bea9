"""What an error shows as the right call is one: it is run here, with the other arguments as they were where it says ``...``.

The errors are those of ``test_wrong_arguments``: every argument of every method, given something that it cannot be; and those of
mistakes that are made often.
"""

from __future__ import annotations

import ast
import contextvars
import logging
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, Final

import pytest
import rich.progress

import rx_asyncio
import rx_core
import rx_ops
import rx_schedulers
from rx_ops import Completable, Flowable, Maybe, Observable, Single
from tests.integration.test_wrong_arguments import RECEIVERS, Wrong, call_of, cases

#: What advice calls by a name that its reader has.
NAMES: Final[dict[str, Any]] = {
    **{name: getattr(rx_ops, name) for name in rx_ops.__all__},
    "aggregates": rx_ops.aggregates,
    "count": rx_ops.it.count,
    "rx_asyncio": rx_asyncio,
    "rx_core": rx_core,
    "rx_schedulers": rx_schedulers,
    "contextvars": contextvars,
    "logging": logging,
    "rich": rich,
    "executor": SimpleNamespace(submit=lambda _function: Future[int]()),
    "function": int,
    "wrong": Wrong(),
    "source": Flowable.of(3, 4),
    "other": Flowable.of(5),
}


def advice(text: str) -> Iterator[str]:
    """The calls that an error shows."""
    for found in re.finditer(r"(?:Right|Or|for example):? +(.*)", text):
        for call in re.split(r"\s{3,}", found[1].split("   #")[0]):
            if call.strip():
                yield call.strip()


class Others(ast.NodeTransformer):
    """Puts the other arguments where ``...`` stands for them."""

    def __init__(self, args: list[Any], options: dict[str, Any]) -> None:
        self.names = {f"_{at}": value for at, value in enumerate([*args, *options.values()])}
        self.args = [ast.Name(f"_{at}", ast.Load()) for at in range(len(args))]
        self.options = [ast.keyword(name, ast.Name(f"_{at}", ast.Load())) for at, name in enumerate(options, start=len(args))]

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        if isinstance(node.body, ast.Constant) and node.body.value is ...:
            node.body = ast.Name("source", ast.Load())
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        given = {each.arg for each in node.keywords}
        if any(isinstance(each, ast.Constant) and each.value is ... for each in node.args):
            node.args = [
                other
                for each in node.args
                for other in (self.args if isinstance(each, ast.Constant) and each.value is ... else [each])
            ]
            node.keywords += [each for each in self.options if each.arg not in given]
        return node


def run(code: str, receiver: Any, args: list[Any], options: dict[str, Any]) -> object:
    tree = ast.parse(f"flow{code}" if code.startswith(".") else code, mode="eval")
    others = Others(args, options)
    tree = ast.fix_missing_locations(others.visit(tree))
    source = receiver if isinstance(receiver, (Single, Maybe)) else NAMES["source"]
    return eval(compile(tree, "<advice>", "eval"), {**NAMES, **others.names, "flow": receiver, "source": source})


#: What shows no call: the words are those of the builtin range, or are about how a function is defined.
SHOWS_NONE: Final = {"range", "stage", "through"}


@pytest.mark.parametrize(("face", "method", "name"), list(cases()))
def test_what_is_said_to_be_right_is_accepted(face: type[Any], method: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Wrong, "__repr__", lambda self: "wrong")
    bound, args, options = call_of(face, method, name)
    with pytest.raises((TypeError, ValueError)) as caught:
        bound(*args, **options)
    shown = list(advice(str(caught.value)))
    assert shown or method in SHOWS_NONE, caught.value
    others = [each for each in args if not isinstance(each, Wrong)]
    named = {key: value for key, value in options.items() if not isinstance(value, Wrong)}
    for code in shown:
        run(code, RECEIVERS[face], others, named)


# --- what is written often ----------------------------------------------------------------------------------------------------

FLOW: Final[Any] = Flowable.of(1, 2)
#: Without their types: a checker refuses what is wrong here.
FLOWABLE: Final[Any] = Flowable
OBSERVABLE: Final[Any] = Observable
SINGLE: Final[Any] = Single
MAYBE: Final[Any] = Maybe
COMPLETABLE: Final[Any] = Completable


async def fetch(item: int) -> int:
    return item


async def ticks() -> Any:
    yield 1


def add(a: int, b: int) -> int:
    return a + b


def nothing() -> None:
    return None


MISTAKES: Final[dict[str, tuple[Callable[[], object], str]]] = {
    "a list of sources": (lambda: FLOWABLE.merge([FLOW, FLOW]), "Flowable.merge(*sources)"),
    "a list of sources to race": (lambda: OBSERVABLE.amb([FLOW]), "Observable.amb(*sources)"),
    "an async mapper": (lambda: FLOW.flat_map(fetch).blocking_list(), ".compose(rx_asyncio.map_async(fetch))"),
    "an async generator": (lambda: FLOWABLE.from_iterable(ticks()), "Flowable.wrap(rx_asyncio.from_async_iterable(source))"),
    "an async source": (lambda: FLOW.merge_with(ticks()), ".merge_with(rx_asyncio.from_async_iterable(source))"),
    "a combiner behind the sources": (lambda: FLOWABLE.zip(FLOW, FLOW, add), "Flowable.zip(..., combiner=add)"),
    "a Single of a function without a result": (
        lambda: SINGLE.from_callable(nothing).blocking_get(),
        "Maybe.from_callable(function)",
    ),
    "a mapper without a result": (lambda: FLOW.map(lambda item: None).blocking_list(), ".map_optional("),
    "a list as a stream": (lambda: FLOWABLE([1, 2]), "Flowable.from_iterable([1, 2])"),
    "an item as a stream": (lambda: FLOWABLE(3), "Flowable.just(3)"),
    "nothing as a stream": (lambda: FLOWABLE(), "Flowable.empty()"),
    "a source as a stream": (lambda: OBSERVABLE(FLOW), "Observable.wrap(source)"),
    "a function as a stream": (lambda: FLOWABLE(nothing), "Flowable.from_callable(nothing)"),
    "an item as a Single": (lambda: SINGLE([1]), "Single.just([1])"),
    "nothing as a Maybe": (lambda: MAYBE(), "Maybe.empty()"),
    "a function as a Completable": (lambda: COMPLETABLE(nothing), "Completable.from_action(nothing)"),
    "the seed first": (lambda: FLOW.scan(0, add), ".scan(add, 0)"),
    "the seed first, reducing": (lambda: FLOW.reduce(0, add), ".reduce(add, 0)"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_that_is_made_often_is_told_the_call_that_was_meant(mistake: str) -> None:
    make, right = MISTAKES[mistake]
    with pytest.raises(TypeError) as caught:
        make()
    assert f"Right:  {right}" in str(caught.value)
    names = {"sources": [FLOW, FLOW], "fetch": fetch, "add": add, "nothing": nothing, "function": nothing}
    if "async" in str(caught.value):
        names["source"] = ticks()
    code = next(advice(str(caught.value)))
    if "<lambda" not in code:
        eval(f"FLOW{code}" if code.startswith(".") else code.replace("...", "FLOW, FLOW"), {**NAMES, **names, "FLOW": FLOW})
