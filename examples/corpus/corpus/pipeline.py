"""The pipeline: written once, the same on every engine."""

from corpus.entries import Entry, Key, Value, combine, key_of, value_of
from corpus.reading import read_entries
from corpus.sources import SourceFile
from rx_ops import Flowable


def count_entries(files: Flowable[SourceFile]) -> Flowable[tuple[Key, Value]]:
    """One table for all files: identifiers per package, the longest functions, what was read and what was skipped and why.

    ``combine`` is associative and commutative, so it does not matter where the parts are counted and in which order they meet.
    """
    entries: Flowable[Entry] = files.flat_map_iterable(read_entries)
    return entries.group_reduce(key_of, value_of, combine)
