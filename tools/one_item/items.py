"""What becomes of the item."""

from __future__ import annotations

from typing import Final

from tools.one_item.rows import Part

PART: Final = Part()

PART.row("map", "SM", "The item through ``mapper``.", "--1|  -->  --a|")
PART.row(
    "map_optional",
    "SM",
    "The item through ``mapper``; nothing when it returns None.",
    "--1|  -->  --a|",
    S={"result": "Maybe[R]"},
)
PART.row("starmap", "SM", "``map`` for a tuple: its items are the arguments of ``mapper``.", "--(1,2)|  -->  --3|")
PART.row("cast", "SM", "The same item, checked to be a ``kind``.", "--1|  -->  --1|")
PART.row(
    "of_type",
    "SM",
    "The item if it is a ``kind``, and typed as such; else nothing.",
    "--1|  -->  --1|",
    S={"result": "Maybe[R]"},
)
PART.row(
    "handle",
    "SM",
    "What ``handler(item, emitter)`` gives instead of the item: an item, nothing, or an error.",
    "--1|  -->  --a|",
    source="Reactor ``handle``.",
    S={"result": "Maybe[R]"},
)
PART.row(
    "filter",
    "SM",
    "The item if ``predicate`` is true for it, else nothing.",
    "--1|  -->  --1|",
    S={"result": "Maybe[T_co]"},
)
PART.row(
    "filter_when",
    "SM",
    "The item, if the first item of the source that ``predicate`` makes of it is true; else nothing.",
    "--1|  -->  ----1|",
    result="Maybe[T_co]",
    signature="(self, predicate: Callable[[T_co], Publisher[object] | SingleBase[object] | MaybeBase[object]]) -> Maybe[T_co]",
    body=(
        'check_callable("filter_when", "predicate", predicate)\nshown = f"filter_when({name_of(predicate)})"\n'
        "deciding = operators.Deciding(predicate, _results)\n"
        "return self._coordinate_into(_results.Maybe, operators.ConcatMap, deciding, shown=shown)"
    ),
    memory="the item.",
    errors="end it; TypeError when ``predicate`` returns no source.",
    fusion="coordinating.",
)
PART.row(
    "flat_map_iterable",
    "SM",
    "The items of the iterable that ``mapper`` makes of this item.",
    "--1|  -->  --a-b|",
    result="Flowable[R]",
    demand="the iterable is read as far as is requested.",
    memory="one iterator.",
    errors="what ``mapper`` or iterating raises, with a note; TypeError for a None in it.",
    source="RxJava ``flattenAsFlowable``.",
    M={"says": "The items of the iterable that ``mapper`` makes of this item; none when there is no item."},
)
INNER: Final = {
    "family": "concat_map",
    "errors": "end it; what ``mapper`` raises; TypeError when it returns no source.",
    "memory": "none.",
    "thread": "that of the source that ``mapper`` makes.",
    "fusion": "coordinating; what ``mapper`` makes goes on without a queue.",
}
PART.row(
    "flat_map",
    "SM",
    "The item of the {Type} that ``mapper`` makes of this one's.",
    "--1|  -->  ----a|",
    **INNER,
    signature="(self, mapper: Callable[[T_co], Base[R]]) -> Type[R]",
    body='return self._from(mapped("flat_map", self, mapper, "{Type}"))',
    source="RxJava ``flatMap``.",
    M={"says": "The item, if any, of the Maybe that ``mapper`` makes of this one's."},
)
PART.row(
    "flat_map_publisher",
    "SM",
    "The items of the stream that ``mapper`` makes of this item.",
    "--1|  -->  ----a-b|",
    **INNER,
    demand="what is wanted of the result is asked of the stream.",
    signature="(self, mapper: Callable[[T_co], Publisher[R]]) -> Flowable[R]",
    body=(
        'check_callable("flat_map_publisher", "mapper", mapper)\n'
        "return _results.Flowable._from(OperatorHead(operators.ConcatMap, (self,), (mapper,)))"
    ),
    source="RxJava ``flatMapPublisher``.",
    M={"says": "The items of the stream that ``mapper`` makes of this item; none when there is no item."},
)
PART.row(
    "flat_map_observable",
    "SM",
    "The items of the Observable that ``mapper`` makes of the item.",
    "--1|  -->  ----a-b|",
    **INNER,
    signature="(self, mapper: Callable[[T_co], ObservableSource[R]]) -> Observable[R]",
    body='return _results.Observable._from(mapped("flat_map_observable", self, mapper))',
    source="RxJava ``flatMapObservable``.",
    M={"says": "The items of the Observable that ``mapper`` makes of the item; none without an item."},
)
PART.row(
    "flat_map_completable",
    "SM",
    "The end of the Completable that ``mapper`` makes of the item.",
    "--1|  -->  ----|",
    **(INNER | {"family": "concat_map_completable"}),
    signature="(self, mapper: Callable[[T_co], CompletableBase]) -> Completable",
    body='return _results.Completable._from(mapped("flat_map_completable", self, mapper))',
    source="RxJava ``flatMapCompletable``.",
    M={"says": "The end of the Completable that ``mapper`` makes of the item; without an item the end."},
)
PART.row(
    "flat_map_maybe",
    "S",
    "The item, if any, of the Maybe that ``mapper`` makes of this one's.",
    "--1|  -->  ----a|",
    **INNER,
    signature="(self, mapper: Callable[[T_co], MaybeBase[R]]) -> Maybe[R]",
    body='return _results.Maybe._from(mapped("flat_map_maybe", self, mapper, "Maybe"))',
    source="RxJava ``flatMapMaybe``.",
)
PART.row(
    "flat_map_single",
    "M",
    "The item of the Single that ``mapper`` makes of this one's; nothing without one.",
    "--1|  -->  ----a|",
    **INNER,
    signature="(self, mapper: Callable[[T_co], SingleBase[R]]) -> Maybe[R]",
    body='return self._from(mapped("flat_map_single", self, mapper, "Single"))',
    source="RxJava ``flatMapSingleElement``.",
)
PART.row(
    "zip_with",
    "SM",
    "Both items as a tuple, or what ``combiner`` makes of them.",
    "--1|  ----a|  -->  ----x|",
    signatures=(
        "(self, other: Base[T2], *, delay_error: bool = ...) -> Type[tuple[T_co, T2]]",
        "(self, other: Base[T2], combiner: Callable[[T_co, T2], R], *, delay_error: bool = ...) -> Type[R]",
        "(self, other: Any, combiner: Any = None, *, delay_error: bool = False) -> Type[Any]",
    ),
    body='return self._from(zipped((self, other), combiner, delay_error, "zip_with", kind="{Type}"))',
    errors="the first ends it and cancels the other; ``delay_error`` as :meth:`zip`. What ``combiner`` raises, TypeError when it "
    "returns None.",
    memory="the item that came first.",
    thread="that of the source whose item comes last.",
    M={"says": "Both items as a tuple, or what ``combiner`` makes of them; nothing when one of the two has none."},
)
PART.row(
    "contains",
    "SM",
    "Whether the item is equal to ``value``, or ``comparer(item, value)`` is true.",
    "--1|  -->  --t|",
    M={"says": "Whether there is an item, and it is equal to ``value`` or ``comparer(item, value)`` is true."},
)
PART.row("is_empty", "M", "Whether there is no item.", "--1|  -->  --f|")
PART.row("count", "M", "1 if there is an item, else 0.", "--1|  -->  --1|")
PART.row(
    "default_if_empty",
    "M",
    "The item, or ``item`` when there is none.",
    "--|  -->  --1|",
    result="Single[T_co | R]",
    body=(
        'if item is None:\n    raise none_argument("default_if_empty(None)", "item")\n'
        "return self._into(_results.Single, stages.first_or, item)"
    ),
    thread="that of the end.",
)
PART.row(
    "switch_if_empty",
    "M",
    "``other`` instead, when there is no item; a Single when ``other`` is one.",
    "--|  --1|  -->  ----1|",
    signatures=(
        "(self, other: SingleBase[R]) -> Single[T_co | R]",
        "(self, other: Base[R]) -> Type[T_co | R]",
        "(self, other: Any) -> Any",
    ),
    body=(
        'check_one("switch_if_empty", other, kind="{Type}")\n'
        'head = OperatorHead(operators.SwitchIfEmpty, (self, other), shown=f"switch_if_empty({other!r})")\n'
        "return self._from(head)._as(_results.Single if isinstance(other, SingleBase) else _results.Maybe)"
    ),
    errors="end it. TypeError at assembly for something that is no source.",
)
PART.row(
    "materialize",
    "SMC",
    "OnNext with the item, or OnError.",
    "--1|  -->  --a|      (OnNext(1))",
    result="Single[Notification[T_co]]",
    body="return told(self)",
    errors="none, an error is a notification.",
    memory="none.",
    fusion="coordinating; the item goes on without a queue.",
    M={"says": "OnNext with the item, OnComplete when there is none, or OnError."},
    C={
        "says": "OnComplete, or OnError.",
        "marble": "--|  -->  --a|      (OnComplete)",
        "result": "Single[Notification[Any]]",
        "body": "return told(self._from(only_end(self)))",
    },
)
PART.row(
    "dematerialize",
    "SM",
    "What the notification stands for: an item, an error, or nothing.",
    "--a|  -->  --1|      (OnNext(1))",
    signature="(self: Base[Notification[T]]) -> Maybe[T]",
    errors="the one in an OnError; TypeError for an item that is no notification.",
    S={
        "body": (
            "made: Any = self\nreturn made._into(_results.Maybe, stages.dematerialize, None)"
            "  # type: ignore[no-any-return]  # self names the base"
        )
    },
    M={
        "body": (
            "made: Any = self\nreturn made._then(stages.dematerialize, None)"
            "  # type: ignore[no-any-return]  # self names the base"
        )
    },
)
