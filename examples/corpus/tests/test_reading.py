import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus import reading
from corpus.entries import FILES, Entry, Skipped, ends_file
from corpus.reading import read_entries
from corpus.sources import SourceFile

Read = Callable[[bytes], list[Entry]]
DONE: Entry = ("p", FILES), 1


def names(entries: list[Entry]) -> list[str]:
    return [finding for (_, finding), _ in entries if not finding.startswith("#")]


def skipped(entries: list[Entry]) -> tuple[int, str]:
    value = entries[-1][1]
    assert isinstance(value, Skipped)
    return value.line, value.reason


def test_every_occurrence_of_an_identifier_is_one_entry(read: Read) -> None:
    entries = read(b"import os\nx = os.path\nif x: pass\nmatch = None\n")
    assert entries == [(("p", name), 1) for name in ("os", "x", "os", "path", "x", "match")] + [DONE]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\xef\xbb\xbfa = 1\n", ["a"]),
        (b"\xef\xbb\xbf", []),
        (b"# coding: latin-1\ncaf\xe9 = 1\n", ["café"]),
        ("größe = 1\n".encode(), ["größe"]),
        (b"a = 1\r\nb = 2\r\n", ["a", "b"]),
        (b"a = 1\rb = 2\r", ["a", "b"]),
        (b"a = 1", ["a"]),
        (b"\x0ca = 1\n", ["a"]),
        (b"# a comment\n\n\n'a literal'\n", []),
    ],
    ids=["empty", "mark", "only-mark", "latin-1", "utf-8", "crlf", "cr", "no-end", "form-feed", "no-names"],
)
def test_readable_files(read: Read, content: bytes, expected: list[str]) -> None:
    entries = read(content)
    assert names(entries) == expected
    assert entries[-1] == DONE


@pytest.mark.parametrize(
    ("content", "counted", "line", "reason"),
    [
        (b"a = 1\nb = '\xff'\nc = 1\n", ["a"], 2, "cannot decode"),
        (b"a = 1\n# \n# \n# \xff\n", ["a"], 4, "cannot decode"),
        (b"# coding: no-such-thing\na = 1\n", [], 1, "cannot decode: unknown encoding"),
        (b"# coding: rot13\na = 1\n", [], 1, "cannot decode"),
        (b"\xef\xbb\xbf# coding: latin-1\n", [], 1, "cannot decode"),
        ("a = 1\n".encode("utf-16"), [], 1, "cannot decode"),
        (b'a = 1\nb = """ x\nc\n', ["a", "b"], 3, "cannot tokenize"),
        (b"a = (b,\nc\n", ["a", "b", "c"], 2, "cannot tokenize"),
        (b"if a:\n        b\n    c\n", ["a", "b"], 3, "cannot tokenize"),
    ],
    ids=["bytes", "bytes-in-comment", "cookie", "rot13", "two-marks", "utf-16", "quotes", "bracket", "indentation"],
)
def test_unreadable_files_are_skipped_from_the_fault_on(
    read: Read, content: bytes, counted: list[str], line: int, reason: str
) -> None:
    entries = read(content)
    assert names(entries) == counted
    assert sum(map(ends_file, entries)) == 1
    assert skipped(entries)[0] == line
    assert skipped(entries)[1].startswith(reason)


def test_null_bytes_are_skipped(read: Read) -> None:
    # How far the line is read depends on the Python version.
    line, reason = skipped(read(b"a = 1\n\0 = 2\nc = 3\n"))
    assert line == 2
    assert reason.startswith("cannot tokenize")


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the tokenizer of 3.12 takes these for operators")
def test_the_reason_shows_what_starts_no_token(read: Read) -> None:
    assert skipped(read(b"a = $b\n")) == (1, "cannot tokenize: no Python token starts at '$b'")


def test_a_line_beyond_the_memory_bound_is_refused(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 100)
    entries = read(b"a = 1\n" * 100 + b"x" * 200)
    assert names(entries) == ["a"] * 100
    assert skipped(entries) == (101, "cannot read: a line of more than 100 bytes")


def test_a_literal_beyond_the_memory_bound_is_refused(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LITERAL_CHARACTERS", 100)
    assert read(b"x = [\n" + b"1,\n" * 1000 + b"]\n")[-1] == DONE  # long, but nothing long has to be held
    line, reason = skipped(read(b"x = '''\n" + b"123456789\n" * 20 + b"'''\n"))
    assert line == 11
    assert reason == "cannot read: a string literal or joined lines of more than 100 characters"


@pytest.mark.parametrize("kind", ["folder", "dangling", "loop", "pipe", "gone"])
def test_what_is_no_file_is_skipped_and_never_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.py"
    match kind:
        case "folder":
            path.mkdir()
        case "dangling":
            path.symlink_to(tmp_path / "nowhere")
        case "loop":
            path.symlink_to(path)
        case "pipe":
            os.mkfifo(path)
    line, reason = skipped(list(read_entries(SourceFile(str(path), "p"))))
    assert line == 0
    assert reason.startswith("cannot read: ")


def test_a_read_error_in_the_middle_is_a_skip(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        def __init__(self, path: str) -> None:
            self.lines = [b"a = 1\n", b"b = 1\n"]

        def __enter__(self) -> "Failing":
            return self

        def __exit__(self, *_: object) -> None: ...

        def readline(self, limit: int) -> bytes:
            if self.lines:
                return self.lines.pop(0)
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(reading, "_open_regular", Failing)
    entries = read(b"")
    assert names(entries) == ["a", "b"]
    assert skipped(entries) == (3, "cannot read: Input/output error")


def test_a_place_that_could_not_be_listed_is_a_skip() -> None:
    entries = list(read_entries(SourceFile("/locked", "locked", "cannot list the directory: Permission denied")))
    assert skipped(entries) == (0, "cannot list the directory: Permission denied")
    assert ends_file(entries[0])


def test_nothing_is_read_ahead_and_closing_closes_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"a = 1\n" * 100_000)
    opened = []
    open_regular = reading._open_regular

    def remember(path: str) -> object:
        opened.append(open_regular(path))
        return opened[-1]

    monkeypatch.setattr(reading, "_open_regular", remember)
    entries = read_entries(SourceFile(str(path), "p"))
    assert opened == []
    assert next(entries) == (("p", "a"), 1)
    assert opened[0].tell() < 100_000
    entries.close()  # type: ignore[attr-defined]  # it is a generator
    assert opened[0].closed


def test_entries_survive_pickling(read: Read) -> None:
    entries = [*read(b"def f(): pass\n"), *read(b"'")]
    assert pickle.loads(pickle.dumps(entries)) == entries
    assert pickle.loads(pickle.dumps(read_entries)) is read_entries
