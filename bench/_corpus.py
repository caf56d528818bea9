"""The words for Scrabble: a dictionary for the game, and the words of Shakespeare's plays.

Read from ``../shared/data/scrabble`` when it is there. Otherwise words are made up, the same ones every time: as many, as long,
with the same letters, and as many of the plays' words are in the dictionary. The figures below are counted from the real files.
"""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

PLACE: Final = Path(__file__).resolve().parents[2] / "shared" / "data" / "scrabble"

#: How often each letter, a to z, comes among ten thousand.
_DICTIONARY_LETTERS: Final = (
    *(803, 226, 361, 412, 1178, 152, 296, 244, 750, 26, 141, 558, 284),
    *(578, 608, 294, 18, 723, 933, 574, 367, 97, 120, 33, 183, 44),
)
_PLAY_LETTERS: Final = (
    *(695, 189, 379, 422, 1245, 160, 282, 271, 759, 19, 85, 512, 257),
    *(724, 574, 292, 21, 757, 862, 669, 383, 123, 119, 37, 148, 17),
)

#: How many words there are of each length: in the dictionary, of the plays those in the dictionary, of the plays the others.
_DICTIONARY: Final = {2: 94, 3: 961, 4: 3857, 5: 8551, 6: 15055, 7: 22821, 8: 28000}
_ALLOWED: Final = {2: 60, 3: 461, 4: 1563, 5: 2471, 6: 3281, 7: 3493, 8: 2948}
_OTHERS: Final = {
    1: 22,
    2: 51,
    3: 115,
    4: 310,
    5: 473,
    6: 749,
    7: 864,
    8: 741,
    9: 2691,
    10: 1707,
    11: 970,
    12: 437,
    13: 202,
    14: 47,
    15: 26,
    16: 2,
    17: 3,
    27: 1,
}


class Corpus(NamedTuple):
    """``dictionary`` are the words that may be played, ``plays`` the different words of the plays in lower case."""

    dictionary: frozenset[str]
    plays: tuple[str, ...]
    made_up: bool


@cache
def corpus() -> Corpus:
    return read(PLACE) if PLACE.is_dir() else made_up()


def read(place: Path) -> Corpus:
    """The real words."""
    dictionary = (place / "ospd.txt").read_text(encoding="utf-8").split()
    plays = (place / "words.shakespeare.txt").read_text(encoding="utf-8").lower().split()
    return Corpus(frozenset(dictionary), tuple(dict.fromkeys(plays)), False)


def made_up(seed: int = 1623) -> Corpus:
    """Words that nobody wrote, of the same size and letters."""
    chance = random.Random(seed)
    by_length = {
        length: sorted(_words(chance, length, count, _DICTIONARY_LETTERS, frozenset())) for length, count in _DICTIONARY.items()
    }
    dictionary = frozenset(word for words in by_length.values() for word in words)
    plays = [word for length, count in _ALLOWED.items() for word in chance.sample(by_length[length], count)]
    for length, count in _OTHERS.items():
        plays += sorted(_words(chance, length, count, _PLAY_LETTERS, dictionary))
    chance.shuffle(plays)
    return Corpus(dictionary, tuple(plays), True)


def _words(chance: random.Random, length: int, count: int, letters: tuple[int, ...], but_not: frozenset[str]) -> set[str]:
    """So many different words of a length. Short ones run out of likely letters, so that every draw counts as it comes."""
    words: set[str] = set()
    while len(words) < count:
        word = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", letters, k=length))
        if word not in but_not:
            words.add(word)
    return words
