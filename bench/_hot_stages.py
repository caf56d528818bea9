"""Hot sources with stages of their own behind merge and flat_map: their functions run where the item comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench._common import Counting, add_one, operators, reactivex
from bench._hot import Entry, Hub, Mapping, MergeByHand
from bench._measure import Case, Way, absent, at_most
from rx_ops import Flowable, PublishProcessor


def hot_stage_cases(size: int) -> Iterator[Case]:
    size -= size % 4
    expected = size * (size + 1) // 2

    def feed(entries: list[Callable[[int], object]]) -> None:
        one, two, three, four = entries
        for item in range(0, size, 4):
            one(item)
            two(item + 1)
            three(item + 2)
            four(item + 3)

    def by_hand() -> int:
        end = Counting()
        merged = MergeByHand(end)
        hubs = [Hub() for _ in range(4)]
        for hub in hubs:
            hub.subscribe(Mapping(Entry(end, merged), add_one))
        feed([hub.on_next for hub in hubs])
        return end.total

    def ours(build: Callable[[list[Flowable[int]]], Flowable[int]]) -> Callable[[], int]:
        def run() -> int:
            end = Counting()
            sources = [PublishProcessor[int]() for _ in range(4)]
            build(list(sources)).subscribe(end)
            feed([source.on_next for source in sources])
            return end.total

        return run

    def theirs(flat: bool) -> Callable[[], int]:
        def run() -> int:
            got = 0

            def add(value: int) -> None:
                nonlocal got
                got += value

            subjects = [reactivex.Subject() for _ in range(4)]
            mapped = operators.map(add_one)
            if flat:
                made = reactivex.from_iterable(subjects).pipe(operators.flat_map(lambda each: each.pipe(mapped)))
            else:
                made = reactivex.merge(*(subject.pipe(mapped) for subject in subjects))
            made.subscribe(add)
            feed([subject.on_next for subject in subjects])
            return got

        return run

    def case(name: str, build: Callable[[list[Flowable[int]]], Flowable[int]], *, flat: bool) -> Case:
        peer = absent("reactivex") if reactivex is None else Way(theirs(flat), expected=expected, slow=True)
        return Case(
            name,
            size,
            {
                "hand-written map and merge behind processors": Way(by_hand, expected=expected),
                "rx": Way(ours(build), expected=expected),
                "reactivex": peer,
            },
            [at_most("rx", 1.3)],
        )

    yield case(
        "merge of four hot sources, each with a map",
        lambda sources: Flowable.merge(*(source.map(add_one) for source in sources)),
        flat=False,
    )
    yield case(
        "flat_map over hot sources with a map",
        lambda sources: Flowable.from_iterable(sources).flat_map(lambda source: source.map(add_one)),
        flat=True,
    )
