"""The words for Scrabble: the real ones where they are, and made-up ones that are like them."""

from __future__ import annotations

from collections import Counter

import pytest

from bench._corpus import PLACE, Corpus, made_up, read
from bench._scrabble import by_hand, with_concat_map, with_flat_map, with_iterables


@pytest.fixture(scope="module")
def words() -> Corpus:
    return made_up()


def test_made_up_words_are_the_same_every_time(words: Corpus) -> None:
    assert made_up() == words


def test_made_up_words_are_as_many_as_the_real_ones(words: Corpus) -> None:
    assert words.made_up
    assert len(words.dictionary) == 79_339
    assert len(words.plays) == len(set(words.plays)) == 23_688
    assert sum(word in words.dictionary for word in words.plays) == 14_277


def test_real_words_are_as_many_as_the_made_up_ones(words: Corpus) -> None:
    if not PLACE.is_dir():
        pytest.skip(f"the real words are not at {PLACE}")
    real = read(PLACE)
    assert len(real.dictionary) == len(words.dictionary)
    assert len(real.plays) == len(words.plays)
    assert sum(word in real.dictionary for word in real.plays) == 14_277
    assert Counter(map(len, real.plays)) == Counter(map(len, words.plays))
    for letter, count in Counter("".join(real.dictionary)).items():
        assert sum(word.count(letter) for word in words.dictionary) == pytest.approx(count, rel=0.1)


@pytest.mark.parametrize("play", [with_flat_map, with_concat_map, with_iterables])
def test_streams_score_as_the_loops_do(words: Corpus, play: object) -> None:
    assert callable(play)
    plays = words.plays[:500]
    assert play(plays, words.dictionary) == by_hand(plays, words.dictionary)


def test_what_cannot_be_played_with_two_blanks_is_left_out() -> None:
    allowed = frozenset(("pizza", "pizzazz", "jazz", "quiz"))
    # z is there once: pizzazz lacks three
    assert by_hand(("pizzazz", "pizza", "jazz", "quiz", "nothing"), allowed) == [
        (64, ["quiz"]),
        (58, ["jazz"]),
        (50, ["pizza"]),
    ]
