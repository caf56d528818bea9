"""From a file to stream elements, one line at a time.

``read_entries`` is what the pipeline maps every file with.  It is a plain generator: nothing is read ahead of demand,
and closing it closes the file.  Its memory is one line or string literal (both have a limit) and the nesting depth.

What can be tokenized, and whether the names inside f-strings are tokens (3.12 and later), is the running Python's
decision.  So answers are comparable between engines, not between Python versions.
"""

import io
import keyword
import os
import stat
import tokenize
from collections import deque
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final

from corpus.entries import FILES, LONGEST, SKIP, Entry, Function, Longest, Skipped
from corpus.functions import FunctionFinder
from corpus.sources import SourceFile

MAX_LINE_BYTES: Final = 1 << 18
"""Longest line that is read.  Python 3.12.1 needs a minute for a line four times as long (its time is quadratic)."""

MAX_LITERAL_CHARACTERS: Final = 1 << 23
"""Longest stretch without an end of line outside a token: a string literal, or lines joined by backslashes."""

# Soft keywords (match, case, type, _) are counted: only a parser could tell where they are names.
_KEYWORDS: Final = frozenset(keyword.kwlist)


def read_entries(file: SourceFile, /) -> Iterator[Entry]:
    """The findings of one file: identifiers and functions in the order of the text, then one entry that ends the file.

    A file that cannot be listed, opened, decoded or tokenized ends with a ``Skipped`` that gives the reason.  What
    was read before the fault stays counted (withholding it would mean to hold whole files in memory).
    """
    if file.problem:
        yield _skip(file, 0, file.problem)
        return
    lines: _Lines | None = None
    problem = ""
    try:
        with _open_regular(file.path) as stream:
            lines = _Lines(stream)
            yield from _scan(file, lines)
    except OSError as error:
        problem = f"cannot read: {error.strerror or error}"
    except _LineTooLong as error:
        problem = f"cannot read: {error}"
    except (UnicodeError, LookupError, _Undecodable) as error:
        problem = f"cannot decode: {error}"
    except SyntaxError as error:
        problem = f"cannot tokenize: {error.msg}"
    except (tokenize.TokenError, _Untokenizable) as error:
        problem = f"cannot tokenize: {error.args[0]}"  # a TokenError's second argument is a position
    if problem:
        yield _skip(file, lines.number if lines else 0, problem)
    else:
        yield (file.package, FILES), 1


def _scan(file: SourceFile, lines: "_Lines") -> Iterator[Entry]:
    # Not tokenize.tokenize(): since Python 3.12 it replaces what it cannot decode, and nobody would know.
    tokens = tokenize.generate_tokens(lines.decoded())
    package = file.package
    finder = FunctionFinder(file.path)
    opening = ""  # "def" or "class" while its name is awaited
    # This loop runs 5.5 million times for a standard library: plain indexing and few branches, most frequent first.
    for token in tokens:
        kind = token[0]
        if kind == tokenize.NAME:
            text = token[1]
            if text not in _KEYWORDS:
                yield (package, text), 1
                if opening:
                    yield from _entries(package, finder.header(text, token[2][0], opening == "class"))
                    opening = ""
            elif text == "def" or text == "class":
                opening = text
        elif kind == tokenize.OP:
            pass
        elif kind == tokenize.NEWLINE:
            lines.held = 0
            opening = ""
            ended = finder.end_of_statement(token[2][0])
            if ended:
                yield from _entries(package, ended)
        elif kind == tokenize.NL:
            lines.held = 0
        elif kind == tokenize.INDENT:
            finder.indent()
        elif kind == tokenize.DEDENT:
            finder.dedent()
        elif kind == tokenize.ERRORTOKEN:
            # The token is often the space before the culprit.
            raise _Untokenizable(f"no Python token starts at {token.line[token.start[1] :].strip()[:20]!a}")
    yield from _entries(package, finder.end_of_file())


def _entries(package: str, functions: list[Function]) -> Iterator[Entry]:
    for function in functions:
        yield (package, LONGEST), Longest(1, (function,))


def _skip(file: SourceFile, line: int, reason: str) -> Entry:
    return (file.package, SKIP + file.path), Skipped(file.path, line, reason)


class _LineTooLong(Exception):
    """Reading on would need more memory than promised."""


class _Undecodable(Exception):
    """``tokenize`` reports a bad coding cookie as a SyntaxError; this tells it from bad layout."""


class _Untokenizable(Exception):
    """Text that starts no token: Python 3.11 hands it out as a token of its own, where later versions raise."""


def _open_regular(path: str) -> BinaryIO:
    # Asked before opening: opening a pipe that nobody writes to would wait forever.
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # open() itself refuses a directory, in good words
        raise OSError("not a regular file")
    return open(path, "rb")


class _Lines:
    """Hands out decoded lines and refuses what would break the memory bound."""

    __slots__ = ("_encoding", "_head", "_parts", "_stream", "held", "number")

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._encoding = ""
        self._head: deque[bytes] = deque()  # lines read to find the encoding
        self._parts: deque[str] = deque()  # lines that carriage returns cut from one line
        self.number = 0  # the line at work, from 1
        self.held = 0  # characters the tokenizer may be holding: since the last end of line outside a token

    def decoded(self) -> Callable[[], str]:
        """Look for a byte order mark and a coding cookie; the answer reads all lines, those two included."""
        self.number = 1
        try:
            encoding, head = tokenize.detect_encoding(self._raw)
        except SyntaxError as error:
            raise _Undecodable(error.msg) from error
        self._encoding = "utf-8" if encoding == "utf-8-sig" else encoding  # the mark itself is gone already
        self._head.extend(head)
        self.number = 0
        return self._readline

    def _readline(self) -> str:
        self.number += 1
        line = self._parts.popleft() if self._parts else self._next()
        if not line:
            self.number -= 1  # the end is no line
        self.held += len(line)
        if self.held > MAX_LITERAL_CHARACTERS:
            raise _LineTooLong(f"a string literal or joined lines of more than {MAX_LITERAL_CHARACTERS:,} characters")
        return line

    def _next(self) -> str:
        line = (self._head.popleft() if self._head else self._raw()).decode(self._encoding)
        if "\r" not in line:
            return line
        # Python ends a line at a lone carriage return too, but not every version of tokenize does.
        self._parts.extend(io.StringIO(line, newline=None))
        return self._parts.popleft()

    def _raw(self) -> bytes:
        raw = self._stream.readline(MAX_LINE_BYTES + 1)
        if len(raw) > MAX_LINE_BYTES:
            raise _LineTooLong(f"a line of more than {MAX_LINE_BYTES:,} bytes")
        return raw
