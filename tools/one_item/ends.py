"""Ends, and other types."""

from __future__ import annotations

from typing import Final

from tools.one_item.rows import Part

PART: Final = Part()

PART.row(
    "blocking_get",
    "SM",
    "The item, computed on this thread.",
    "--1|  -->  1",
    family="blocking_first",
    demand="none; this waits for the end.",
    signature="(self, *, seconds: float | None = None) -> T_co",
    body=(
        'item = self._blocking(seconds)\nif item is None:\n    raise EmptyStreamError(f"{self!r}.blocking_get()")\nreturn item'
    ),
    errors="raised; TimeoutError after ``seconds``; EmptyStreamError when a source that had to give an item gave none.",
    source="RxJava ``blockingGet``.",
    M={
        "says": "The item, computed on this thread, or None.",
        "signature": "(self, *, seconds: float | None = None) -> T_co | None",
        "body": "return self._blocking(seconds)",
        "errors": "raised; TimeoutError after ``seconds``.",
    },
)
PART.row(
    "blocking_await",
    "C",
    "Returns when this is complete.",
    "--|",
    family="blocking_first",
    demand="none; this waits for the end.",
    signature="(self, *, seconds: float | None = None) -> None",
    body="self._wait_for_the_end(seconds)",
    errors="raised; TimeoutError after ``seconds``.",
    source="RxJava ``blockingAwait``.",
)
PART.row(
    "to_flowable",
    "SMC",
    "A stream of this one item; the item is given when it is requested.",
    "--1|  -->  --1|",
    family="to_observable",
    signature="(self) -> Flowable[T_co]",
    body="made: Flowable[T_co] = waiting(self)\nreturn made",
    demand="one item; it is computed when this is subscribed, and waits.",
    memory="the item.",
    fusion="coordinating; pulled where everything is wanted.",
    source="RxJava ``toFlowable``.",
    M={"says": "A stream of this item, if there is one; it is given when it is requested."},
    C={
        "says": "A stream without items.",
        "marble": "--|  -->  --|",
        "signature": "(self) -> Flowable[Any]",
        "body": "return _results.Flowable._from(only_end(self))",
        "demand": "none needed.",
        "memory": "none.",
        "fusion": "coordinating.",
    },
)
PART.row(
    "to_observable",
    "SMC",
    "A stream of this one item, for observers.",
    "--1|  -->  --1|",
    M={"says": "A stream of this item, if there is one, for observers."},
    C={
        "says": "A stream without items, for observers.",
        "marble": "--|  -->  --|",
        "signature": "(self) -> Observable[Any]",
        "body": "return _results.Observable._from(only_end(self))",
        "fusion": "coordinating.",
    },
)
PART.row(
    "to_maybe",
    "S",
    "The same as a Maybe.",
    "--1|  -->  --1|",
    family="to_observable",
    signature="(self) -> Maybe[T_co]",
    body="return self._as(_results.Maybe)",
    source="RxJava ``toMaybe``.",
)
PART.row(
    "to_single",
    "M",
    "The same as a Single.",
    "--1|  -->  --1|",
    family="single",
    signature="(self) -> Single[T_co]",
    body="return self._into(_results.Single, stages.to_single)",
    errors="pass through; EmptyStreamError when there is no item.",
    memory="none.",
    source="RxJava ``toSingle``.",
)
PART.row("ignore_element", "SM", "Only the end.", "--1|  -->  --|", family="ignore_elements", source="RxJava ``ignoreElement``.")
PART.row(
    "and_then",
    "C",
    "``other`` after this is complete; an error skips it.",
    "--|  --1|  -->  ----1|",
    family="concat_with",
    signatures=(
        "(self, other: Completable) -> Completable",
        "(self, other: Single[T]) -> Single[T]",
        "(self, other: Maybe[T]) -> Maybe[T]",
        "(self, other: Flowable[T]) -> Flowable[T]",
        "(self, other: Any) -> Any",
    ),
    body=(
        'check_source("and_then", other)\n'
        "quiet = Completable._from(only_end(self))  # not of the other's type: a Single without an item is an error\n"
        "return type(other)._from(OperatorHead(operators.Concat, (quiet, other), many=True))"
    ),
    demand="what is wanted goes to ``other``.",
    errors="end it; ``other`` is not subscribed then. TypeError at assembly for something that is no source.",
    fusion="coordinating; passive sources are iterated, without a queue.",
    source="RxJava ``andThen``.",
)
PART.row(
    "to_single_default",
    "C",
    "``item`` when this is complete.",
    "--|  -->  --1|",
    family="default_if_empty",
    signature="(self, item: T) -> Single[T]",
    body="return self.and_then(_results.Single.just(item))",
    thread="that of the end.",
    fusion="coordinating.",
    source="RxJava ``toSingleDefault``.",
)
PART.row(
    "to_future",
    "SMC",
    "Subscribes, and gives a future of the item for code that waits for several of them.",
    "--1|  -->  1",
    family="",
    signature="(self) -> Future[T_co]",
    body="return future_of(self)",
    demand="none; the item comes as soon as it is there.",
    errors="are those of the future. ``future.cancel()`` disposes, and is refused once this has ended.",
    memory="the item.",
    thread="the one that subscribes; the future's callbacks run on that of the item.",
    fusion="one loop with a synchronous source.",
    source="RxJava ``toFuture``.",
    M={
        "says": "Subscribes, and gives a future of the item, or of None, for code that waits for several of them.",
        "signature": "(self) -> Future[T_co | None]",
    },
    C={
        "says": "Subscribes, and gives a future of the end, for code that waits for several of them.",
        "marble": "--|",
        "signature": "(self) -> Future[None]",
        "demand": "none; there are no items.",
        "memory": "none.",
        "thread": "the one that subscribes; the future's callbacks run on that of the end.",
    },
)
PART.row(
    "to_maybe",
    "C",
    "The same as a Maybe without an item.",
    "--|  -->  --|",
    family="to_observable",
    signature="(self) -> Maybe[Never]",
    body="return cast('Maybe[Never]', _results.Maybe._from(only_end(self)))",
    fusion="coordinating.",
    source="RxJava ``toMaybe``.",
)
MADE: dict[str, str] = {
    "demand": "that of what is made.",
    "errors": "those of what is made, and what the function raises at assembly.",
    "memory": "that of what is made.",
    "thread": "that of what is made.",
    "fusion": "that of what is made.",
}
PART.row(
    "compose",
    "SMC",
    "What ``transformer`` makes of this {Type}, called once at assembly.",
    "--1|  -->  --a|",
    family="",
    signature="(self, transformer: Callable[[Type[T_co]], Base[R]]) -> Type[R]",
    body='check_callable("compose", "transformer", transformer, "{Type}")\nreturn self.wrap(transformer(self))',
    **MADE,
    source="RxJava ``compose``.",
    C={"marble": "--|  -->  --|"},
)
PART.row(
    "pipe",
    "SMC",
    "``operator(self, *args, **kwargs)``: a user's function in a chain, exactly typed.",
    "--1|  -->  --a|      (whatever the function makes of it)",
    family="",
    signature="(self, operator: Callable[Concatenate[Type[T_co], P], R], /, *args: P.args, **kwargs: P.kwargs) -> R",
    body='check_callable("pipe", "operator", operator, "{Type}")\nreturn operator(self, *args, **kwargs)',
    **MADE,
    source="pandas ``pipe``; for several functions chain several calls.",
    C={"marble": "--|  -->  --|      (whatever the function makes of it)"},
)
