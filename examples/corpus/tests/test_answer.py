import operator
import pickle
from functools import reduce
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from corpus.answer import Answer, diff
from corpus.entries import FILES, LONGEST, LONGEST_KEPT, SKIP, Entry, Function, Key, Longest, Skipped, Value, combine

packages = st.sampled_from(["json", "os", "asyncio"])
functions = st.builds(Function, st.integers(1, 5), st.sampled_from(["a.py", "b.py"]), st.integers(1, 3), st.sampled_from("fgh"))
entries_of_files = st.one_of(
    st.tuples(st.tuples(packages, st.sampled_from(["self", "x", FILES])), st.just(1)),
    st.builds(lambda package, found: ((package, LONGEST), Longest(1, (found,))), packages, functions),
    st.builds(
        # A path belongs to one package; that a file is read twice is possible (a repeated task).
        lambda package, line: ((package, f"{SKIP}{package}/a.py"), Skipped(f"{package}/a.py", line, "cannot read")),
        packages,
        st.integers(0, 2),
    ),
)


def table(entries: list[Entry]) -> dict[Key, Value]:
    reduced: dict[Key, Value] = {}
    for key, value in entries:
        reduced[key] = combine(reduced[key], value) if key in reduced else value
    return reduced


@given(st.lists(entries_of_files), st.randoms(use_true_random=False), st.integers(1, 4))
def test_no_interleaving_and_no_partition_changes_the_answer(entries: list[Entry], random: Random, parts: int) -> None:
    expected = Answer.of(table(entries).items())
    shuffled = list(entries)
    random.shuffle(shuffled)
    partial = [table(shuffled[part::parts]) for part in range(parts)]
    merged = table([entry for reduced in partial for entry in reduced.items()])
    assert Answer.of(merged.items()) == expected == Answer.of(entries)
    assert diff(Answer.of(merged.items()), expected) == []
    assert expected.elements >= len({key for key, _ in entries})


@given(st.lists(st.lists(functions, max_size=60), min_size=3, max_size=3))
def test_longest_is_associative_and_commutative_beyond_its_bound(groups: list[list[Function]]) -> None:
    a, b, c = (reduce(operator.add, (Longest(1, (found,)) for found in group), Longest()) for group in groups)
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    ranked = sorted(
        (found for group in groups for found in group),
        key=lambda found: (-found.lines, found.path, found.first_line, found.qualified_name),
    )
    assert (a + b + c).functions == tuple(ranked[:LONGEST_KEPT])
    assert (a + b + c).count == len(ranked)


def sample() -> Answer:
    function = Function(7, "/r/json/a.py", 3, "f")
    return Answer.of(
        [
            (("json", "loads"), 2),
            (("json", "x"), 2),
            (("os", "path"), 1),
            (("json", FILES), 1),
            (("os", FILES), 1),
            (("json", LONGEST), Longest(4, (function,))),
            (("os", SKIP + "/r/os/bad.py"), Skipped("/r/os/bad.py", 2, "cannot read")),
        ]
    )


def test_an_answer_counts_what_flowed() -> None:
    answer = sample()
    assert (answer.files, answer.identifiers, answer.elements) == (2, 5, 5 + 4 + 2 + 1)
    assert [name for name, _ in answer.top_packages(5)] == ["json", "os"]
    assert answer.packages["json"].most_frequent(1) == [("loads", 2)]
    assert pickle.loads(pickle.dumps(answer)) == answer


def test_diff_says_what_differs() -> None:
    other = Answer.of(
        [
            (("json", "loads"), 3),
            (("json", "x"), 2),
            (("json", FILES), 2),
            (("json", LONGEST), Longest(5, (Function(8, "/r/json/a.py", 3, "f"),))),
            (("re", "x"), 1),
            (("re", SKIP + "/r/os/bad.py"), Skipped("/r/os/bad.py", 3, "cannot read")),
        ]
    )
    assert diff(sample(), other) == [
        "package json: 1 files against 2",
        "package json: loads occurs 2 times against 3",
        "package os only in the first answer",
        "package os: 1 files against 0",
        "package os: path occurs 1 times against 0",
        "package re only in the second answer",
        "package re: x occurs 0 times against 1",
        "4 functions against 5",
        "f (7 lines, /r/json/a.py) only in the first answer",
        "f (8 lines, /r/json/a.py) only in the second answer",
        "/r/os/bad.py: skipped at line 2 (cannot read) against skipped at line 3 (cannot read)",
    ]
    assert diff(sample(), sample()) == []


def test_every_unequal_pair_has_a_difference_in_words() -> None:
    assert sample() != Answer.of([])
    assert diff(sample(), Answer.of([]), limit=1) == [
        "package json only in the first answer",
        "4 functions against 0",
        "/r/os/bad.py: skipped at line 2 (cannot read) against not skipped",
    ]
