"""Where a stream of at most one item begins."""

from __future__ import annotations

from typing import Any, Final

from tools.one_item.rows import Part

PART: Final = Part()

PART.row("just", "SM", "One item, known now.", "1|")
PART.row("empty", "M", "No item.", "|", demand="none.")
PART.row(
    "complete",
    "C",
    "Completes at once.",
    "|",
    family="empty",
    body='return cls._from(IterableHead("complete", (), "complete()", feed=Feed.CLEAN))',
    source="RxJava ``complete``.",
)
PART.row(
    "from_callable",
    "SM",
    "What ``function`` returns, called for each subscription.",
    "1|",
    M={
        "says": "What ``function`` returns, called for each subscription; None means no item.",
        "signature": "(cls, function: Callable[[], T | None]) -> Type[T]",
        "body": (
            'check_callable("from_callable", "function", function)\n'
            'return cls._from(IterableHead("from_callable", MaybeCalled(function), f"from_callable({name_of(function)})"))'
        ),
        "errors": "what ``function`` raises.",
    },
)
PART.row(
    "from_action",
    "C",
    "Calls ``action`` for each subscription, then completes; what it returns is dropped.",
    "--|",
    family="",
    signature="(cls, action: Callable[[], object]) -> Type",
    body=(
        'check_callable("from_action", "action", action)\n'
        'return cls._from(IterableHead("from_action", Acted(action), f"from_action({name_of(action)})"))'
    ),
    errors="what ``action`` raises.",
    memory="none.",
    thread="the one that subscribes.",
    fusion="synchronous source.",
    source="RxJava ``fromAction``.",
)
PART.row(
    "create",
    "SMC",
    "What ``source`` gives an emitter, called for each subscription; the first that it gives counts.",
    "--1|",
    signature="(cls, source: Callable[[{Type}Emitter[T]], object]) -> Type[T]",
    body=(
        'check_callable("create", "source", source, "{Type}")\n'
        'return cls._from(operators.CreateOneHead("create", source, operators.{Type}Emitter, f"create({name_of(source)})"))'
    ),
    errors="what ``source`` raises; TypeError for None. What comes after the end or a dispose goes to the error hook.",
    memory="the item, until it is wanted.",
    thread="the one that signals to the emitter, which may be any.",
    source="RxJava ``create``. ``emitter.set_cancellable`` unregisters a callback, at the end as well.",
    C={
        "says": "Ends when ``source``, called for each subscription, tells its emitter.",
        "signature": "(cls, source: Callable[[CompletableEmitter], object]) -> Type",
        "marble": "--|",
        "memory": "none.",
        "errors": "what ``source`` raises. What comes after the end or a dispose goes to the error hook.",
    },
)
PART.row(
    "from_future",
    "SMC",
    "The result of ``future``, which some executor computes; no thread waits for it.",
    "--1|",
    signature="(cls, future: Future[T]) -> Type[T]",
    body='return cls._from(from_future(future, operators.give_{name}, operators.{Type}Emitter, "{Type}"))',
    memory="the result, until it is wanted.",
    M={
        "says": "The result of ``future``, which some executor computes; nothing for None. No thread waits for it.",
        "signatures": (
            "(cls, future: Future[T | None]) -> Type[T]",
            "(cls, future: Future[T]) -> Type[T]",
            "(cls, future: Future[Any]) -> Type[Any]",
        ),
        "errors": "what the future failed with, CancelledError included. TypeError at assembly for one of an event loop.",
    },
    C={
        "says": "Completes when ``future`` has, which some executor computes; its result is dropped. No thread waits for it.",
        "signature": "(cls, future: Future[Any]) -> Type",
        "marble": "--|",
        "memory": "none.",
        "errors": "what the future failed with, CancelledError included. TypeError at assembly for one of an event loop.",
    },
)
PART.row(
    "defer",
    "SMC",
    "The {Type} that ``supplier`` makes for each subscription.",
    "--1|",
    body='check_callable("defer", "supplier", supplier)\nreturn cls._from(operators.DeferHead(supplier, "{Type}"))',
    C={"marble": "--|"},
)
PART.row("error", "SMC", "Fails with ``error``, or with what the function makes for each subscription.", "#", demand="none.")
PART.row("never", "SMC", "No signal at all.", "--", demand="none.")
PART.row(
    "wrap",
    "SMC",
    "A foreign {Type} with our operators; ours as it is.",
    "--1|",
    signature="(cls, {name}: Base[T]) -> Type[T]",
    body=(
        'if isinstance({name}, {Type}):\n    return {name}\ncheck_wrapped("{Type}", {name})\nreturn cls._from(foreign({name}))'
    ),
    errors="pass through; TypeError at assembly for something that is no source.",
    thread="the source's.",
    fusion="none in front of it; stages behind it are pushed through without a queue.",
    source="RxJava ``wrap``.",
    C={"marble": "--|"},
)


def _zips() -> tuple[str, ...]:
    """The overloads for two to four sources, with a combiner behind them or by its name, and without one."""
    found: list[str] = []
    for way in ("combiner: {}, /, *", "/, *, combiner: {}", "/, *"):
        for count in (2, 3, 4):
            types = ", ".join(f"T{number}" for number in range(1, count + 1))
            sources = ", ".join(f"s{number}: Base[T{number}]" for number in range(1, count + 1))
            made = f"tuple[{types}]" if way == "/, *" else "R"
            found.append(f"(cls, {sources}, {way.format(f'Callable[[{types}], R]')}, delay_error: bool = ...) -> Type[{made}]")
    return (*found, "(cls, *sources: Any, combiner: Any = None, delay_error: bool = False) -> Type[Any]")


PART.row(
    "zip",
    "SM",
    "The items of all as a tuple, or what ``combiner`` makes of them; all are subscribed together.",
    "--1|  ----a|  -->  ----x|",
    signatures=_zips(),
    body='return cls._from(zipped(sources, combiner, delay_error, kind="{Type}"))',
    errors="the first ends it and cancels the others; with ``delay_error`` all run to their end, and several errors arrive as "
    "one CompositeException. What ``combiner`` raises, TypeError when it returns None.",
    memory="the items that came first.",
    thread="that of the source whose item comes last.",
    S={
        "says": "The items of all as a tuple, or what ``combiner`` makes of them; all are subscribed together.\n\n"
        "EmptyStreamError when there are no sources.",
        "body": (
            'made = cls._from(zipped(sources, combiner, delay_error, kind="{Type}"))\n'
            'return made if sources else made._then(stages.not_empty, "zip")'
        ),
    },
    M={
        "says": "The items of all as a tuple, or what ``combiner`` makes of them; nothing when one of them has none.\n\n"
        "Then the others are cancelled; with ``delay_error`` they run to their end, and an error of one is signalled instead.",
    },
)
SEVERAL: Final[dict[str, Any]] = {
    "signatures": (
        "(cls, s1: Base[T1], s2: Base[T2], /, *, delay_error: bool = ...) -> Flowable[T1 | T2]",
        "(cls, s1: Base[T1], s2: Base[T2], s3: Base[T3], /, *, delay_error: bool = ...) -> Flowable[T1 | T2 | T3]",
        "(cls, *sources: Base[T], delay_error: bool = ...) -> Flowable[T]",
        "(cls, *sources: Base[Any], delay_error: bool = False) -> Flowable[Any]",
    ),
    "errors": "the first ends the stream; with ``delay_error`` all run to their end, and several errors arrive as one "
    "CompositeException. TypeError at assembly for something that is no source.",
    "fusion": "coordinating.",
}
PART.row(
    "concat",
    "SMC",
    "The items of ``sources``, one source after the other.",
    "----1|  --2|  -->  ----1--2|",
    **SEVERAL,
    body='return items_of("{Type}", "concat", sources, delay_error=delay_error)',
    demand="a source is subscribed when the one before is over; its item waits until it is requested.",
    memory="an item.",
    thread="that of the running source.",
    source="RxJava ``concat``, ``concatArray``, ``concatDelayError``.",
    C={
        "says": "Completes when all of ``sources`` have, one after the other.",
        "marble": "----|  --|  -->  ------|",
        "signature": "(cls, *sources: Base, delay_error: bool = False) -> Type",
        "body": 'return cls._from(all_ended(cls, "concat", sources, delay_error))',
        "demand": "none; there are no items.",
        "errors": "the first ends it, and later ones are not subscribed; with ``delay_error`` all run to their end, and several "
        "errors arrive as one CompositeException. TypeError at assembly for something that is no source.",
        "memory": "none.",
    },
)
PART.row(
    "concat_eager",
    "SM",
    "The items of ``sources`` in their order; all are subscribed at once, and what comes early waits.",
    "----1|  --2|  -->  ----12|",
    **SEVERAL,
    body='return items_of("{Type}", "concat_eager", sources, delay_error=delay_error)',
    demand="at most 128 sources run; an item waits until it is requested.",
    memory="an item of each source.",
    thread="that of the source whose turn it is, or the one on which the source before it ended.",
    source="RxJava ``concatArrayEager``, ``concatEager``.",
)
PART.row(
    "merge",
    "SMC",
    "The items of ``sources`` as they come; all are subscribed at once.",
    "----1|  --2|  -->  --2-1|",
    **SEVERAL,
    body='return items_of("{Type}", "merge", sources, delay_error=delay_error)',
    demand="an item waits until it is requested.",
    memory="an item of each source.",
    thread="that of the source.",
    source="RxJava ``merge``, ``mergeArray``, ``mergeDelayError``.",
    C={
        "says": "Completes when all of ``sources`` have; they are subscribed at once.",
        "marble": "----|  --|  -->  ----|",
        "signature": "(cls, *sources: Base, delay_error: bool = False) -> Type",
        "body": 'return cls._from(all_ended(cls, "merge", sources, delay_error))',
        "demand": "none; there are no items.",
        "errors": "the first ends it and cancels the others; with ``delay_error`` all run to their end, and several errors "
        "arrive as one CompositeException. TypeError at assembly for something that is no source.",
        "memory": "none.",
        "thread": "that of the last end.",
        "source": "RxJava ``merge``, ``mergeArray``, ``mergeDelayError``; Reactor ``when``.",
    },
)
PART.row(
    "amb",
    "SMC",
    "The one of ``sources`` that signals first; the others are cancelled.",
    "----1|  --3|  -->  --3|",
    body='return cls._from(raced(*sources, kind="{Type}"))',
    errors=(
        "of the winner; a loser's that comes later goes to the error hook. TypeError at assembly for something that is no source."
    ),
    fusion="coordinating; the winner's item goes on without a queue.",
    source="RxJava ``amb``, ``ambArray``.",
    S={
        "says": "The one of ``sources`` that signals first; the others are cancelled. EmptyStreamError when there are none.",
        "body": (
            'made = cls._from(raced(*sources, kind="{Type}"))\nreturn made if sources else made._then(stages.not_empty, "amb")'
        ),
    },
    M={"says": "The one of ``sources`` that signals first; the others are cancelled. Nothing when there are none."},
    C={
        "says": "The one of ``sources`` that ends first, whichever way; the others are cancelled. Completes when there are none.",
        "marble": "----|  --|  -->  --|",
        "fusion": "coordinating.",
        "body": (
            'for source in sources:\n    check_source("amb", source, kind="{Type}")\n'
            "return cls._from(raced(*(cls._from(only_end(source)) for source in sources)))"
        ),
    },
)
PART.row(
    "first_with_value",
    "SM",
    "",
    "----1|  --#  -->  ----1|",
    errors="of all when none has an item, several as one CompositeException; a loser's that comes later goes to the error hook. "
    "TypeError at assembly for something that is no source.",
    memory="an error for each source.",
    fusion="coordinating; the winner's item goes on without a queue.",
    S={
        "says": "The first item of all ``sources``; the others are cancelled. EmptyStreamError when there are none.\n\n"
        "A source that fails is passed over, which is the difference to :meth:`amb`.",
        "body": (
            'made = cls._from(raced(*sources, operator="first_with_value", kind="{Type}"))\n'
            'return made if sources else made._then(stages.not_empty, "first_with_value")'
        ),
    },
    M={
        "says": "The first item of all ``sources``; the others are cancelled. Nothing where none has one and none has failed.\n\n"
        "A source that fails or has no item is passed over, which is the difference to :meth:`amb`.",
        "body": 'return cls._from(raced(*sources, operator="first_with_value", kind="{Type}"))',
    },
)
PART.row(
    "amb_with",
    "SMC",
    "This or ``other``, whichever signals first.",
    "----1|  --3|  -->  --3|",
    body='check_one("amb_with", other, kind="{Type}")\nreturn self.amb(self, other)',
    errors="of the winner.",
    C={"says": "This or ``other``, whichever ends first.", "marble": "----|  --|  -->  --|"},
)
PART.row(
    "using",
    "SMC",
    "The {Type} that ``factory`` makes of a resource that ``supplier`` gives, and ``cleanup`` takes back.\n\n"
    "``cleanup`` runs exactly once: before the end is signalled (with ``eager=False`` after it), or when the run is cancelled.",
    "--1|",
    errors="of what ``factory`` makes; what one of the functions raises. When ``cleanup`` fails as well, both as a "
    "CompositeException; after the end or a cancel, its error goes to the error hook.",
    body=(
        'check_callable("using", "supplier", supplier)\ncheck_callable("using", "factory", factory)\n'
        'check_callable("using", "cleanup", cleanup)\n'
        'return cls._from(using_head(supplier, factory, cleanup, eager, "{Type}"))'
    ),
    C={"marble": "--|"},
)


def _when(cleanup: str = "Publisher[object] | SingleBase[object] | MaybeBase[object] | CompletableBase") -> str:
    """What is the same for all types: a resource from any source, and cleanups of any type."""
    return (
        "(cls, resource: Publisher[R] | SingleBase[R] | MaybeBase[R], use: Callable[[R], Base[T]], "
        f"on_complete: Callable[[R], {cleanup}], *, on_error: Callable[[R, Exception], {cleanup}] | None = None, "
        f"on_cancel: Callable[[R], {cleanup}] | None = None) -> Type[T]"
    )


BEHIND: Final = (
    "The {Type} that ``use`` makes of the first item of ``resource``; its item comes behind an asynchronous cleanup.\n\n"
)
CLEANED: Final = (
    "For a connection that opens, commits, rolls back and closes without blocking. The cleanup is a source: ``on_complete`` "
    "makes it when the {Type} is complete, ``on_error`` when it failed, ``on_cancel`` when the observer has disposed; the last "
    "two are ``on_complete`` unless given. It is made and subscribed exactly once for each resource, and nothing disposes it."
)
KEPT: Final = (
    'check_source("using_when", resource, "resource")\n'
    'check_callable("using_when", "use", use)\n'
    'check_callable("using_when", "on_complete", on_complete)\n'
    "return cls._from(using_when_head(resource, use, on_complete, on_error, on_cancel, of_one=True))"
)
PART.row(
    "using_when",
    "SMC",
    "The {Type} that ``use`` makes of the first item of ``resource``, behind an asynchronous cleanup that is awaited.\n\n"
    + CLEANED,
    "--1|  -->  --1----|      (the cleanup takes four)",
    signature=_when(),
    demand="one item of ``resource``, and all of a cleanup.",
    errors="of ``resource`` and of what ``use`` makes; what ``use`` raises, TypeError when it returns no source, behind "
    "``on_error``. Of a cleanup, in place of the item, and with another error both as a CompositeException; after a dispose it "
    "goes to the error hook.",
    fusion="coordinating.",
    S={
        "says": BEHIND + CLEANED + " Of an empty ``resource`` EmptyStreamError.",
        "marble": "--1|  -->  ------1|      (the cleanup takes four)",
        "body": KEPT.replace("return", "made =") + '\nreturn made._then(stages.not_empty, "using_when")',
    },
    M={
        "says": BEHIND + CLEANED + " Of an empty ``resource`` no item.",
        "body": KEPT,
        "marble": "--1|  -->  ------1|      (the cleanup takes four)",
    },
    C={
        "says": "The {Type} that ``use`` makes of the first item of ``resource``, and behind it an asynchronous cleanup.\n\n"
        + CLEANED
        + " Of an empty ``resource`` a completion.",
        "marble": "--|  -->  ------|      (the cleanup takes four)",
    },
)
PART.row(
    "sequence_equal",
    "SMC",
    "Whether the items of all are equal, or ``comparer`` finds those of the others equal to that of the first.",
    "--1|  ----1|  -->  ----t|",
    signature=(
        "(cls, first: Base[T], second: Base[T], /, *more: Base[T], "
        "comparer: Callable[[T, T], object] | None = None) -> Single[bool]"
    ),
    body="return alike((first, second, *more), comparer)",
    errors="the first ends it at once and cancels the others; what comparing raises.",
    memory="an item of each source.",
    M={"says": "Whether all have equal items, or none has one; ``comparer`` as for a Single."},
    C={
        "says": "True when all are complete; the first error ends it and cancels the others.",
        "marble": "--|  ----|  -->  ----t|",
        "signature": "(cls, first: Base, second: Base, /, *more: Base) -> Single[bool]",
        "body": (
            "sources = (first, second, *more)\nfor source in sources:\n"
            '    check_source("sequence_equal", source, "more", kind="{Type}")\n'
            "return alike(tuple([cls._from(only_end(source)) for source in sources]))"
        ),
        "errors": "the first ends it at once and cancels the others.",
        "memory": "none.",
        "source": "RxJava ``sequenceEqual``.",
    },
)


def _two(operator: str, says: str, marble: str, of_ends: str, **said: Any) -> None:
    """``concat_with``, ``merge_with``: two of them become a stream, two Completables another one."""
    PART.row(
        f"{operator}_with",
        "SMC",
        says,
        marble,
        signature="(self, other: Base[R]) -> Flowable[T_co | R]",
        body=f'check_source("{operator}_with", other, kind="{{Type}}")\nreturn items_of("{{Type}}", "{operator}", (self, other))',
        **said,
        C={
            "says": of_ends,
            "marble": "----|  --|  -->  ------|" if operator == "concat" else "----|  --|  -->  ----|",
            "signature": "(self, other: Base) -> Type",
            "body": (
                f'check_source("{operator}_with", other, kind="Completable")\n'
                f'return self._from(all_ended(Completable, "{operator}", (self, other), False))'
            ),
            "demand": "none; there are no items.",
            "memory": "none.",
        },
    )


_two(
    "concat",
    "The item of this, then that of ``other``.",
    "----1|  --2|  -->  ----1--2|",
    "Completes when this and then ``other`` have.",
    demand="``other`` is subscribed when this is over; its item waits until it is requested.",
    errors="end the stream; TypeError at assembly for something that is no source.",
    memory="an item.",
    fusion="coordinating.",
)
_two(
    "merge",
    "The items of both as they come.",
    "----1|  --2|  -->  --2-1|",
    "Completes when this and ``other`` have; both are subscribed at once.",
    demand="an item waits until it is requested.",
    errors="the first ends the stream; TypeError at assembly for something that is no source.",
    memory="an item of each.",
    thread="that of the source.",
    fusion="coordinating.",
)
PART.row(
    "start_with",
    "SM",
    "``items`` first, then that of this.",
    "--1|  -->  a-1|",
    signature="(self, *items: R) -> Flowable[T_co | R]",
    body="return self.to_flowable().start_with(*items)",
    demand="what is left of it goes on to this.",
    memory="what is put first.",
    thread="the one that requests, then this one's.",
    fusion="coordinating.",
)
