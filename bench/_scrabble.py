"""Shakespeare plays Scrabble: which words of the plays would score most, with every step a stream.

The benchmark is José Paumard's, made known by RxJava's authors; the computation is theirs, the code is ours. A word counts its
letters (as far as the game has them) twice and the best letter of its first three and of the rest twice, and 50 for seven
letters; it may be played when it is in the dictionary and two blanks fill what the game lacks. The result are the three best
scores with their words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from bench._common import operators, reactivex
from bench._corpus import corpus
from bench._measure import Case, Way, absent, at_most, left_out
from rx_ops import Flowable

LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
SCORES: Final = dict(zip(LETTERS, (1, 3, 3, 2, 1, 4, 2, 4, 1, 8, 5, 1, 3, 1, 1, 3, 10, 1, 1, 1, 1, 4, 4, 8, 4, 10), strict=True))
TILES: Final = dict(zip(LETTERS, (9, 2, 2, 1, 12, 2, 3, 2, 9, 1, 1, 4, 2, 6, 8, 2, 1, 6, 4, 6, 4, 2, 2, 1, 2, 1), strict=True))

Best = list[tuple[int, list[str]]]


def scrabble_cases(size: int, *, slow: bool = False) -> Iterator[Case]:
    """One case: the whole corpus where the others have a hundred thousand elements or more, else the first words of it."""
    found = corpus()
    words = found.plays if size >= 100_000 else found.plays[: max(size // 10, 20)]
    dictionary = found.dictionary
    some = words[::12]
    part = Way(partial(with_reactivex, some, dictionary), len(some), by_hand(some, dictionary), slow=True)
    whole = Way(partial(with_reactivex, words, dictionary), slow=True) if slow else left_out("takes a minute: --slow")
    yield Case(
        "Shakespeare plays Scrabble",
        len(words),
        {
            "plain Python": partial(by_hand, words, dictionary),
            "rx, flat_map": Way(partial(with_flat_map, words, dictionary), slow=True),
            "rx, concat_map": Way(partial(with_concat_map, words, dictionary), slow=True),
            "rx, flat_map_iterable": Way(partial(with_iterables, words, dictionary), slow=True),
            "plain Python, nothing computed twice": partial(by_hand_once, words, dictionary),
            "reactivex, every twelfth word": absent("reactivex") if reactivex is None else part,
            "reactivex": absent("reactivex") if reactivex is None else whole,
        },
        [at_most("rx, flat_map_iterable", 3.9, 3.0)],
        note="in flat_map and concat_map every inner stream is a Flowable, as in RxJava's version; the target is that of any "
        + ("spelling; made-up words" if found.made_up else "spelling; the real words"),
    )


# -- what all versions share: the functions of one letter or of one count ------------------------------------------------


def count_letter(counts: dict[str, int], letter: str) -> None:
    counts[letter] = counts.get(letter, 0) + 1


def score_of_letter(letter: str) -> int:
    return SCORES[letter]


def score_of_entry(entry: tuple[str, int]) -> int:
    letter, count = entry
    return SCORES[letter] * min(count, TILES[letter])


def blanks_of_entry(entry: tuple[str, int]) -> int:
    letter, count = entry
    return max(0, count - TILES[letter])


def add(one: int, other: int) -> int:
    return one + other


def bonus_of_length(word: str) -> int:
    return 50 if len(word) == 7 else 0


# -- by hand -------------------------------------------------------------------------------------------------------------


def _histogram(word: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for letter in word:
        count_letter(counts, letter)
    return counts


def _blanks(word: str) -> int:
    total = 0
    for entry in _histogram(word).items():
        total += blanks_of_entry(entry)
    return total


def _score(word: str) -> int:
    total = 0
    for entry in _histogram(word).items():
        total += score_of_entry(entry)
    return total


def _best_letter(word: str) -> int:
    best = 0
    for part in (word[:3], word[3:]):
        for letter in part:
            score = score_of_letter(letter)
            if score > best:
                best = score
    return best


def by_hand(words: Sequence[str], dictionary: frozenset[str]) -> Best:
    """The same calls as the streams make, in loops."""
    by_score: dict[int, list[str]] = {}
    for word in words:
        if word in dictionary and _blanks(word) <= 2:
            score = _score(word) + _score(word) + _best_letter(word) + _best_letter(word) + bonus_of_length(word)
            by_score.setdefault(score, []).append(word)
    return sorted(by_score.items(), reverse=True)[:3]


def by_hand_once(words: Sequence[str], dictionary: frozenset[str]) -> Best:
    """What somebody would write who does not compare: each of the two scores once, doubled."""
    by_score: dict[int, list[str]] = {}
    for word in words:
        if word in dictionary:
            counts = _histogram(word)
            if sum(map(blanks_of_entry, counts.items())) <= 2:
                score = sum(map(score_of_entry, counts.items())) + max(map(score_of_letter, word))
                by_score.setdefault(2 * score + bonus_of_length(word), []).append(word)
    return sorted(by_score.items(), reverse=True)[:3]


# -- with streams --------------------------------------------------------------------------------------------------------


def _file(by_score: dict[int, list[str]], entry: tuple[int, str]) -> None:
    by_score.setdefault(entry[0], []).append(entry[1])


def _same(stream: Flowable[Any]) -> Flowable[Any]:
    return stream


def _entries(counts: dict[str, int]) -> Flowable[tuple[str, int]]:
    return Flowable.from_iterable(counts.items())


def _best(scores: dict[int, list[str]]) -> Flowable[tuple[int, list[str]]]:
    return Flowable.from_iterable(sorted(scores.items(), reverse=True))


def _counted(word: str) -> Flowable[dict[str, int]]:
    return Flowable.from_iterable(word).collect(dict[str, int], count_letter).to_flowable()


def with_flat_map(words: Sequence[str], dictionary: frozenset[str]) -> Best:
    """As RxJava's version is written: every step of every word is a Flowable, joined with flat_map."""

    def blanks(word: str) -> Flowable[int]:
        return _counted(word).flat_map(_entries).map(blanks_of_entry).reduce(add).to_flowable()

    def playable(word: str) -> bool:
        return blanks(word).flat_map(lambda count: Flowable.just(count <= 2)).blocking_first()

    def letters(word: str) -> Flowable[int]:
        return _counted(word).flat_map(_entries).map(score_of_entry).reduce(add).to_flowable()

    def best_letter(word: str) -> Flowable[int]:
        first, rest = Flowable.from_iterable(word).take(3), Flowable.from_iterable(word).skip(3)
        return Flowable.of(first, rest).flat_map(_same).map(score_of_letter).reduce(max).to_flowable()

    def score(word: str) -> int:
        parts = letters(word), letters(word), best_letter(word), best_letter(word), Flowable.just(bonus_of_length(word))
        total: Flowable[int] = Flowable.of(*parts).flat_map(_same).reduce(add).to_flowable()
        return total.blocking_first()

    played = Flowable.from_iterable(words).filter(dictionary.__contains__).filter(playable)
    scored = played.map(lambda word: (score(word), word)).collect(dict[int, list[str]], _file).to_flowable()
    return scored.flat_map(_best).take(3).to_list().blocking_get()


def with_concat_map(words: Sequence[str], dictionary: frozenset[str]) -> Best:
    """The same, joined in order."""

    def blanks(word: str) -> Flowable[int]:
        return _counted(word).concat_map(_entries).map(blanks_of_entry).reduce(add).to_flowable()

    def playable(word: str) -> bool:
        return blanks(word).concat_map(lambda count: Flowable.just(count <= 2)).blocking_first()

    def letters(word: str) -> Flowable[int]:
        return _counted(word).concat_map(_entries).map(score_of_entry).reduce(add).to_flowable()

    def best_letter(word: str) -> Flowable[int]:
        first, rest = Flowable.from_iterable(word).take(3), Flowable.from_iterable(word).skip(3)
        return Flowable.concat(first, rest).map(score_of_letter).reduce(max).to_flowable()

    def score(word: str) -> int:
        parts = letters(word), letters(word), best_letter(word), best_letter(word), Flowable.just(bonus_of_length(word))
        return Flowable.concat(*parts).reduce(add).to_flowable().blocking_first()

    played = Flowable.from_iterable(words).filter(dictionary.__contains__).filter(playable)
    scored = played.map(lambda word: (score(word), word)).collect(dict[int, list[str]], _file).to_flowable()
    return scored.concat_map(_best).take(3).to_list().blocking_get()


def with_iterables(words: Sequence[str], dictionary: frozenset[str]) -> Best:
    """As one writes it who knows flat_map_iterable: what is a list stays one, and a description that is wanted twice is made once
    and run twice. RxJava's authors show such a version too."""

    def counted(word: str) -> Flowable[tuple[str, int]]:
        return Flowable.from_iterable(word).collect(dict, count_letter).flat_map_iterable(dict.items)

    def playable(word: str) -> bool:
        return counted(word).map(blanks_of_entry).sum().blocking_get() <= 2

    def score(word: str) -> int:
        letters = counted(word).map(score_of_entry)
        halves = Flowable.of(word[:3], word[3:]).flat_map_iterable(_letters)
        best = halves.map(score_of_letter).reduce(max).to_flowable()
        return Flowable.concat(letters, letters, best, best, Flowable.just(bonus_of_length(word))).sum().blocking_get()

    played = Flowable.from_iterable(words).filter(dictionary.__contains__).filter(playable)
    scored = played.map(lambda word: (score(word), word)).collect(dict[int, list[str]], _file)
    return scored.flat_map_iterable(lambda scores: sorted(scores.items(), reverse=True)).take(3).to_list().blocking_get()


def _letters(part: str) -> str:
    return part


# -- with reactivex --------------------------------------------------------------------------------------------------------


def _value(stream: Any) -> Any:
    """The last item, computed at once and on this thread.

    Their ``run()`` would start a thread for each, and their default scheduler puts off a stream that is subscribed in another.
    """
    got: list[Any] = []
    stream.subscribe(got.append, scheduler=reactivex.scheduler.ImmediateScheduler.singleton())
    return got[-1]


def with_reactivex(words: Sequence[str], dictionary: frozenset[str]) -> Best:
    """As :func:`with_flat_map`, in their words."""
    rx, op = reactivex, operators

    def tallied(counts: dict[str, int], letter: str) -> dict[str, int]:
        count_letter(counts, letter)
        return counts

    def filed(by_score: dict[int, list[str]], entry: tuple[int, str]) -> dict[int, list[str]]:
        _file(by_score, entry)
        return by_score

    def counted(word: str) -> Any:
        return rx.from_iterable(word).pipe(op.reduce(tallied, {}))

    def entries(counts: dict[str, int]) -> Any:
        return rx.from_iterable(counts.items())

    def blanks(word: str) -> Any:
        return counted(word).pipe(op.flat_map(entries), op.map(blanks_of_entry), op.reduce(add))

    def playable(word: str) -> bool:
        return bool(_value(blanks(word).pipe(op.flat_map(lambda count: rx.just(count <= 2)))))

    def letters(word: str) -> Any:
        return counted(word).pipe(op.flat_map(entries), op.map(score_of_entry), op.reduce(add))

    def best_letter(word: str) -> Any:
        first, rest = rx.from_iterable(word).pipe(op.take(3)), rx.from_iterable(word).pipe(op.skip(3))
        return rx.of(first, rest).pipe(op.flat_map(lambda part: part), op.map(score_of_letter), op.reduce(max))

    def score(word: str) -> int:
        parts = letters(word), letters(word), best_letter(word), best_letter(word), rx.just(bonus_of_length(word))
        return int(_value(rx.of(*parts).pipe(op.flat_map(lambda part: part), op.reduce(add))))

    scored = rx.from_iterable(words).pipe(
        op.filter(dictionary.__contains__),
        op.filter(playable),
        op.map(lambda word: (score(word), word)),
        op.reduce(filed, {}),
        op.flat_map(lambda scores: rx.from_iterable(sorted(scores.items(), reverse=True))),
        op.take(3),
        op.to_list(),
    )
    return list(_value(scored))
