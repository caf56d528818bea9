"""Function lengths from the token stream: no syntax tree, so memory is bounded by the nesting, not by the file."""

from dataclasses import dataclass

from corpus.entries import Function


@dataclass(slots=True)
class _Scope:
    qualified_name: str
    is_class: bool
    first_line: int
    depth: int  # indentation levels before its ``def``: the next statement at this depth is no longer inside


class FunctionFinder:
    """Told about layout and headers in the order of the text; answers with the functions that ended by that.

    A function ends where a later statement begins at its own depth or further out.  That rule covers blocks and
    one-liners (``def f(): return 1``) alike.  Comments and blank lines do not count, so a comment behind the last
    statement does not belong to the function.
    """

    __slots__ = ("_depth", "_in_header", "_last_line", "_path", "_scopes")

    def __init__(self, path: str) -> None:
        self._path = path
        self._scopes: list[_Scope] = []
        self._depth = 0
        self._last_line = 0  # where the last complete statement ended
        self._in_header = False

    def indent(self) -> None:
        self._depth += 1

    def dedent(self) -> None:
        self._depth -= 1

    def header(self, name: str, line: int, is_class: bool) -> list[Function]:
        """``def name`` or ``class name`` was read in ``line``."""
        ended = self._close(self._depth)
        if self._scopes:
            outer = self._scopes[-1]
            name = f"{outer.qualified_name}.{name}" if outer.is_class else f"{outer.qualified_name}.<locals>.{name}"
        self._scopes.append(_Scope(name, is_class, line, self._depth))
        self._in_header = True
        return ended

    def end_of_statement(self, line: int) -> list[Function]:
        """A statement, or the header of a block, ended in ``line``."""
        ended: list[Function] = []
        if self._in_header:  # this line opened the innermost scope, so it cannot close it
            self._in_header = False
        elif self._scopes:
            ended = self._close(self._depth)
        self._last_line = line
        return ended

    def end_of_file(self) -> list[Function]:
        return self._close(0)

    def _close(self, depth: int) -> list[Function]:
        ended: list[Function] = []
        while self._scopes and self._scopes[-1].depth >= depth:
            scope = self._scopes.pop()
            if not scope.is_class:
                # max: text that is no valid Python may put two headers into one line.
                lines = max(self._last_line - scope.first_line, 0) + 1
                ended.append(Function(lines, self._path, scope.first_line, scope.qualified_name))
        return ended
