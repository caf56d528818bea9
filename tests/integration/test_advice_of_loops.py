"""What errors of rx_asyncio and rx_trio show as right is a program: it is run here, in a loop, with the names that a reader has.

A line of advice is ``  words:  code``, or code alone, over several lines where these are indented. What stands in ``PROSE`` says
in words what to do.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import pytest
import trio

import rx_asyncio
import rx_core
import rx_trio
from rx_core import tasks
from rx_ops import Completable, Flowable, Single
from rx_testing import TestSubscriber

FLOW: Final = Flowable.of(1, 2)

PROSE: Final = (
    "From another thread:",
    "Without a limit leave it out",
    "Make it in the loop, or subscribe there:",
    "Open the ",
)
#: Code of this form is wrong, and shown beside what is right.
WRONG: Final = "Wrong:"


async def function() -> int:
    return 1


async def double(item: int) -> int:
    return 2 * item


async def ticks() -> AsyncIterator[int]:
    yield 1


def plain() -> int:
    return 1


def listed() -> list[int]:
    return [1]


class Loop:
    """A library, and its loop: what runs in it has an owner of tasks by the name that advice uses."""

    def __init__(self, package: ModuleType) -> None:
        self.package: Any = package
        self.owner = "group" if package is rx_asyncio else "nursery"
        #: What sources of the library need besides: those of rx_trio belong to a nursery.
        self.owned = package is rx_trio

    async def checkpoint(self) -> None:
        for _ in range(3):
            await (trio.lowlevel.checkpoint() if self.owned else asyncio.sleep(0))

    def run(self, main: Callable[[Any], Awaitable[None]]) -> None:
        async def owning() -> None:
            if self.package is rx_asyncio:
                async with asyncio.TaskGroup() as group:
                    await main(group)
            else:
                async with trio.open_nursery() as nursery:
                    await main(nursery)

        if self.package is rx_asyncio:
            asyncio.run(owning())
        else:
            trio.run(owning)

    def source(self, call: str, given: Any, owner: Any, **options: Any) -> Any:
        return getattr(self.package, call)(given, **options, **({"nursery": owner} if self.owned else {}))


def advice(text: str) -> Iterator[str]:
    """The pieces of code that an error shows, and in words what is none."""
    lines = text.splitlines()[1:]
    while lines:
        line = lines.pop(0).rstrip()
        if line.strip().startswith(WRONG):
            continue
        # The words end with a colon and two spaces; code has that nowhere.
        indent = found.end() if (found := re.match(r" +\S.*?: {2,}(?=\S)", line)) else len(line) - len(line.lstrip())
        code = [line[indent:].split("   #")[0].rstrip()]
        while lines and lines[0].startswith(" " * (indent + 1)):
            code.append(lines.pop(0)[indent:].rstrip())
        yield "\n".join(code) if not line.strip().startswith(PROSE) else f"# {line.strip()}"


class Given(ast.NodeTransformer):
    """What stands for ``...`` among the arguments of a call: a function where nothing else is given, else no more."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        given = [each for each in node.args if not (isinstance(each, ast.Constant) and each.value is ...)]
        if len(given) < len(node.args) and not given:
            given = [ast.Name("source" if "iterable" in ast.unparse(node.func) else "function", ast.Load())]
        node.args = given
        name = ast.unparse(node.func)
        needs_owner = self.loop.owned and re.match(r"rx_trio\.(from_|map_async)", name)
        if needs_owner and not any(each.arg == "nursery" for each in node.keywords):
            node.keywords += [ast.keyword("nursery", ast.Name("nursery", ast.Load()))]
        return node


async def run(code: str, loop: Loop, owner: Any) -> None:
    names = {
        "Flowable": Flowable, "Single": Single, "Completable": Completable,
        "asyncio": asyncio, "trio": trio, "rx_asyncio": rx_asyncio, "rx_trio": rx_trio, "rx_core": rx_core,
        loop.owner: owner, "flow": FLOW, "on_next": double, "function": function, "fetch": double, "double": double, "url": 1,
        "connection": SimpleNamespace(close=function), "plain": plain, "source": ticks,
        "abs": abs, "n": 2, "stream": FLOW, "single": Single.just(1),
    }  # fmt: skip
    if "Flowable.from_iterable(source)" in code:
        names["source"] = [1, 2]
    if ".subscribe(" in code:
        names["function"] = double
    if "from_async_iterable(function" in code:
        names["function"] = ticks
    tree = ast.fix_missing_locations(Given(loop).visit(ast.parse(code)))
    result = eval(compile(tree, "<advice>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.isawaitable(result):
        await result


def refused(call: Callable[[], object], kind: type[Exception]) -> str:
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


async def raised(call: Callable[[], Awaitable[object]], kind: type[Exception]) -> str:
    with pytest.raises(kind) as caught:
        await call()
    return str(caught.value)


async def failed(loop: Loop, source: Any) -> str:
    """What a source signals when it is awaited."""
    waits = loop.package.first if hasattr(source, "parallel") else loop.package.value
    return await raised(lambda: waits(source), Exception)


Mistake = Callable[[Loop, Any], Awaitable[str]]


async def iterating_a_stream(loop: Loop, _owner: Any) -> str:
    async def wrong() -> None:
        async for _ in loop.package.stream(FLOW):
            pass

    return await raised(wrong, RuntimeError)


async def iterating_behind_the_block(loop: Loop, _owner: Any) -> str:
    async with loop.package.stream(FLOW) as items:
        pass

    async def wrong() -> None:
        async for _ in items:
            pass

    return await raised(wrong, RuntimeError)


async def opening_a_stream_twice(loop: Loop, _owner: Any) -> str:
    stream = loop.package.stream(FLOW)

    async def wrong() -> None:
        async with stream:
            pass

    async with stream:
        return await raised(wrong, RuntimeError)


async def iterating_once_only_twice(loop: Loop, owner: Any) -> str:
    source = Flowable.wrap(loop.source("from_async_iterable", ticks(), owner))
    await loop.package.value(source.to_list())
    return await failed(loop, source)


async def a_scheduler_that_has_ended(loop: Loop, _owner: Any) -> str:
    scheduler = loop.package.scheduler()
    scheduler.shutdown()
    return refused(scheduler.create_worker, RuntimeError)


async def iterating_in_two_tasks(loop: Loop, owner: Any) -> str:
    async def iterating() -> None:
        async for _ in items:
            pass

    async with loop.package.stream(Flowable.never()) as items:
        if loop.owned:
            scope = trio.CancelScope()

            async def first() -> None:
                with scope:
                    await iterating()

            owner.start_soon(first)
            leave = scope.cancel
        else:
            leave = owner.create_task(iterating()).cancel
        await loop.checkpoint()
        text = await raised(iterating, Exception)
        leave()
        await loop.checkpoint()
    return text


async def mapping_by_a_plain_function(loop: Loop, owner: Any) -> str:
    return await failed(loop, FLOW.compose(loop.source("map_async", abs, owner)))


async def waiting_in_the_loop(_loop: Loop, _owner: Any) -> str:
    return refused(lambda: Flowable.never().blocking_list(), RuntimeError)


def refusing(call: Callable[[Loop, Any], object], kind: type[Exception] = TypeError) -> Mistake:
    async def mistake(loop: Loop, owner: Any) -> str:
        return refused(lambda: call(loop, owner), kind)

    return mistake


def awaiting(call: Callable[[Loop], Awaitable[object]]) -> Mistake:
    async def mistake(loop: Loop, _owner: Any) -> str:
        return await raised(lambda: call(loop), TypeError)

    return mistake


def signalling(call: str, given: Any, face: Any) -> Mistake:
    async def mistake(loop: Loop, owner: Any) -> str:
        return await failed(loop, face(loop.source(call, given, owner)))

    return mistake


#: With the pieces of advice that each shows.
BOTH: Final[dict[str, tuple[Mistake, int]]] = {
    "no owner": (refusing(lambda loop, _: loop.package.subscribe(None, FLOW, double)), 1),
    "a coroutine as an action": (refusing(lambda loop, owner: loop.source("from_action", function(), owner)), 1),
    "a plain function as an action": (signalling("from_action", plain, lambda s: Completable.wrap(s).to_single_default(1)), 1),
    "a list as a publisher": (refusing(lambda loop, owner: loop.package.subscribe(owner, [1], double)), 2),
    "the value of a stream": (awaiting(lambda loop: loop.package.value(FLOW)), 2),
    "a list as an async iterable": (refusing(lambda loop, owner: loop.source("from_async_iterable", [1], owner)), 2),
    "a number as an async iterable": (refusing(lambda loop, owner: loop.source("from_async_iterable", 1, owner)), 1),
    "a function of a list": (signalling("from_async_iterable", listed, Flowable.wrap), 1),
    "no buffer": (refusing(lambda loop, owner: loop.source("map_async", double, owner, buffer=-1), ValueError), 1),
    "iterating a stream": (iterating_a_stream, 1),
    "iterating behind the block": (iterating_behind_the_block, 1),
    "opening a stream twice": (opening_a_stream_twice, 1),
    "iterating once only twice": (iterating_once_only_twice, 1),
    "a scheduler that has ended": (a_scheduler_that_has_ended, 1),
    "iterating in two tasks": (iterating_in_two_tasks, 1),
    "mapping by a plain function": (mapping_by_a_plain_function, 2),
    "waiting in the loop": (waiting_in_the_loop, 4),
}
ASYNCIO: Final[dict[str, tuple[Mistake, int]]] = {
    **BOTH,
    "a coroutine as a task": (refusing(lambda loop, _: loop.package.from_task(function())), 1),
    "a plain function as a task": (signalling("from_task", plain, Single.wrap), 1),
    "a number as a queue": (refusing(lambda loop, _: loop.package.from_queue(3)), 1),
    "a number as a future": (refusing(lambda loop, _: loop.package.from_future(3)), 1),
    "a number as a group": (refusing(lambda loop, _: loop.package.from_task(function, group=3)), 1),
}
TRIO: Final[dict[str, tuple[Mistake, int]]] = {
    **BOTH,
    "a number as a channel": (refusing(lambda loop, owner: loop.source("from_channel", 3, owner)), 1),
    "a number to send into": (awaiting(lambda loop: loop.package.to_channel(FLOW, 3)), 1),
    "a number as a nursery": (refusing(lambda loop, _: loop.package.from_async_iterable(ticks, nursery=3)), 1),
}
CASES: Final = [
    pytest.param(Loop(package), *mistakes[name], id=f"{package.__name__}: {name}")
    for package, mistakes in ((rx_asyncio, ASYNCIO), (rx_trio, TRIO))
    for name in mistakes
]


@pytest.mark.parametrize(("loop", "mistake", "pieces"), CASES)
def test_what_is_shown_in_a_loop_runs_there(loop: Loop, mistake: Mistake, pieces: int) -> None:
    shown: list[str] = []

    async def main(owner: Any) -> None:
        shown.extend(code for code in advice(await mistake(loop, owner)) if not code.startswith("#"))
        for code in shown:
            await run(code, loop, owner)

    loop.run(main)
    assert len(shown) == pieces, shown


CALLS: Final[dict[str, Callable[[Loop], object]]] = {
    "subscribe": lambda loop: loop.package.subscribe(None, FLOW, double),
    "first": lambda loop: loop.package.first(FLOW).send(None),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("package", [rx_asyncio, rx_trio])
def test_what_is_shown_outside_of_a_loop_runs_there(package: ModuleType, call: str) -> None:
    loop = Loop(package)
    (code,) = [code for code in advice(refused(lambda: CALLS[call](loop), RuntimeError)) if not code.startswith("#")]
    ran: list[int] = []

    async def main() -> None:
        ran.append(await loop.package.first(FLOW))

    exec(code, {"asyncio": asyncio, "trio": trio, "main": main})
    assert ran == [1]


def test_every_kind_of_advice_is_shown_by_one_of_these_mistakes() -> None:
    shown: list[str] = []
    for case in CASES:
        loop, mistake, _pieces = case.values

        async def main(owner: Any, loop: Any = loop, mistake: Any = mistake) -> None:
            shown.append(await mistake(loop, owner))

        loop.run(main)  # type: ignore[union-attr]  # the first value of each case
    shown.append(refused(lambda: CALLS["first"](Loop(rx_trio)), RuntimeError))
    packages = [Path(str(package.__file__)).parent for package in (rx_asyncio, rx_trio, tasks)]
    texts = [file.read_text(encoding="utf-8") for package in packages for file in package.glob("*.py")]
    labels = {label for text in texts for label in re.findall(r"""["n]  ([A-Z][^:"{}]*):  """, text)}
    assert len(labels) > 8
    in_words = {"Make it in the loop, or subscribe there", "To stop the stream instead"}
    assert {label for label in labels if not any(f"  {label}:  " in text for text in shown)} == in_words


def test_a_source_that_is_subscribed_where_no_loop_runs_says_what_to_do_in_words() -> None:
    got = TestSubscriber[Any]()
    Flowable.wrap(rx_asyncio.from_async_iterable(ticks)).subscribe(got)
    assert got.error is not None
    assert all(code.startswith("#") for code in advice(str(got.error)))


def test_advice_is_found_in_all_its_forms() -> None:
    text = (
        "what is wrong.\n"
        "  Wrong:  a(b())\n"
        "  Right:  a(b)   # because\n"
        "  For plain items:        c(d)\n"
        "  async with e as f:\n"
        "      g(f)\n"
        "  Right:  async with h as i:\n"
        "              j(i)\n"
        "  From another thread:  k(...), or so"
    )
    assert list(advice(text)) == [
        "a(b)",
        "c(d)",
        "async with e as f:\n    g(f)",
        "async with h as i:\n    j(i)",
        "# From another thread:  k(...), or so",
    ]
