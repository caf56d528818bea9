"""What the reduced pairs mean, and how two answers differ."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from corpus.entries import FILES, Entry, Function, Longest, Skipped


@dataclass(slots=True)
class Package:
    """One row of the table.  ``files`` were read to their end; ``counts`` maps an identifier to its occurrences."""

    files: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def identifiers(self) -> int:
        return self.counts.total()

    def most_frequent(self, top: int) -> list[tuple[str, int]]:
        """By occurrences, equals by name: ``Counter.most_common`` would give equals in the order of arrival."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))[:top]


@dataclass(frozen=True, slots=True)
class Answer:
    """All that a run found out.  Two answers are equal when every count, function and skipped file is equal."""

    packages: Mapping[str, Package]
    longest: Longest
    skipped: tuple[Skipped, ...]

    @staticmethod
    def of(entries: Iterable[Entry]) -> "Answer":
        """From pairs in any order: reduced per key, in partial results, or one by one as they were read."""
        packages: dict[str, Package] = {}
        longest = Longest()
        skipped: dict[str, Skipped] = {}
        for (package, finding), value in entries:
            row = packages.setdefault(package, Package())
            if isinstance(value, Longest):
                longest += value
            elif isinstance(value, Skipped):
                known = skipped.get(value.path, value)
                skipped[value.path] = known + value
            elif finding == FILES:
                row.files += value
            else:
                row.counts[finding] += value
        return Answer(packages, longest, tuple(sorted(skipped.values())))

    @property
    def files(self) -> int:
        """Files read to their end."""
        return sum(row.files for row in self.packages.values())

    @property
    def identifiers(self) -> int:
        return sum(row.identifiers for row in self.packages.values())

    @property
    def elements(self) -> int:
        """How many elements the readers emitted: each finding is exactly one."""
        return self.identifiers + self.longest.count + self.files + len(self.skipped)

    def top_packages(self, top: int) -> list[tuple[str, Package]]:
        """By identifiers, equals by name."""
        return sorted(self.packages.items(), key=lambda item: (-item[1].identifiers, item[0]))[:top]


def diff(a: Answer, b: Answer, limit: int = 10) -> list[str]:
    """What differs from ``a`` to ``b``, in words, at most ``limit`` lines of each kind.  Empty: they are equal."""
    return [
        *islice(_count_differences(a, b), limit),
        *islice(_function_differences(a.longest, b.longest), limit),
        *islice(_skip_differences(a.skipped, b.skipped), limit),
    ]


def _count_differences(a: Answer, b: Answer) -> Iterable[str]:
    for name in sorted(a.packages.keys() | b.packages.keys()):
        left, right = a.packages.get(name, Package()), b.packages.get(name, Package())
        if (name in a.packages) != (name in b.packages):
            yield f"package {name} only in the {'first' if name in a.packages else 'second'} answer"
        if left.files != right.files:
            yield f"package {name}: {left.files} files against {right.files}"
        for identifier in sorted(left.counts.keys() | right.counts.keys()):
            if left.counts[identifier] != right.counts[identifier]:
                yield (f"package {name}: {identifier} occurs {left.counts[identifier]} times against {right.counts[identifier]}")


def _function_differences(a: Longest, b: Longest) -> Iterable[str]:
    if a.count != b.count:
        yield f"{a.count} functions against {b.count}"
    for which, functions in (("first", _missing(a, b)), ("second", _missing(b, a))):
        for function in functions:
            yield f"{function.qualified_name} ({function.lines} lines, {function.path}) only in the {which} answer"


def _missing(a: Longest, b: Longest) -> list[Function]:
    there = set(b.functions)
    return [function for function in a.functions if function not in there]


def _skip_differences(a: tuple[Skipped, ...], b: tuple[Skipped, ...]) -> Iterable[str]:
    left, right = {skip.path: skip for skip in a}, {skip.path: skip for skip in b}
    for path in sorted(left.keys() | right.keys()):
        first, second = left.get(path), right.get(path)
        if first != second:
            yield f"{path}: {_say(first)} against {_say(second)}"


def _say(skip: Skipped | None) -> str:
    return f"skipped at line {skip.line} ({skip.reason})" if skip else "not skipped"
