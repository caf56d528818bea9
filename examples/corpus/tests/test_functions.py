import ast
import sys
from collections.abc import Callable, Iterator

import pytest

from corpus.entries import Entry, Longest, Skipped
from corpus.reading import read_entries
from corpus.sources import NOT_STANDARD_LIBRARY, find_sources, standard_library

Read = Callable[[bytes], list[Entry]]
Found = tuple[int, int, str]  # first line, lines, qualified name


def functions(entries: list[Entry]) -> set[Found]:
    return {
        (function.first_line, function.lines, function.qualified_name)
        for _, value in entries
        if isinstance(value, Longest)
        for function in value.functions
    }


def from_syntax_tree(source: bytes) -> set[Found]:
    """The oracle: what Python's own parser says."""

    def walk(node: ast.AST, prefix: str) -> Iterator[Found]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                assert child.end_lineno is not None
                yield child.lineno, child.end_lineno - child.lineno + 1, prefix + child.name
                yield from walk(child, f"{prefix}{child.name}.<locals>.")
            elif isinstance(child, ast.ClassDef):
                yield from walk(child, f"{prefix}{child.name}.")
            else:
                yield from walk(child, prefix)

    return set(walk(ast.parse(source), ""))


CASES = {
    "block": b"def f():\n    a\n    b\n",
    "one-line": b"def f(): return 1\ndef g(): return 2\nx = 1\n",
    "one-line-in-class": b"class A:\n    def f(self): pass\n    x = 1\n    def g(self): pass\ny = 2\n",
    "nested": b"def f():\n    def g():\n        def h(): pass\n        return h\n    return g\n",
    "siblings-of-nested": b"def f():\n    def g():\n        pass\n    def h():\n        pass\n\ndef k():\n    pass\n",
    "class-in-function": b"def f():\n    class A:\n        def g(self):\n            pass\n    return A\n",
    "function-after-class": b"class A:\n    x = 1\ndef f():\n    pass\n",
    "async": b"async def f():\n    async with a:\n        await b\n",
    "decorated": b"@a\n@b(\n    1\n)\ndef f():\n    pass\n",
    "lambda": b"f = lambda x: (\n    x\n)\ndef g(h=lambda: 1):\n    return lambda: 2\n",
    "long-header": b"def f(\n    a,  # comment\n    b=1,\n) -> dict[\n    str, int\n]:\n    pass\n",
    "long-last-statement": b"def f():\n    return g(\n        1,\n        '''\n  x\n''',\n    )\n",
    "ends-in-string": b'def f():\n    """One\n    two."""\n',
    "trailing-comments": b"def f():\n    a\n    # comment\n\n# comment\n\n\nx = 1\n",
    "comment-before-dedent": b"class A:\n    def f(self):\n        a\n\n    # about g\n    def g(self):\n        b\n",
    "joined": b"def f():\n    return 1 + \\\n        2\n",
    "no-end-of-line": b"def f():\n    return 1",
    "in-if": b"if a:\n    def f():\n        pass\nelse:\n    def f():\n        pass\n    x = 1\n",
    "in-try": b"def f():\n    try:\n        def g(): pass\n    finally:\n        pass\n",
    "semicolons": b"def f(): a; b; c\nd; e\n",
    "tabs": b"def f():\n\tif a:\n\t\tb\n\tc\n",
    "soft-keyword-name": b"def match():\n    pass\n",
}


@pytest.mark.parametrize("source", CASES.values(), ids=CASES.keys())
def test_functions_are_those_of_the_syntax_tree(read: Read, source: bytes) -> None:
    assert functions(read(source)) == from_syntax_tree(source) != set()


@pytest.mark.parametrize("package", ["asyncio", "json", "re", "inspect", "typing", "dataclasses"])
def test_real_packages_agree_with_the_syntax_tree(package: str) -> None:
    for file in find_sources([standard_library()], NOT_STANDARD_LIBRARY):
        if file.package == package:
            with open(file.path, "rb") as stream:
                assert functions(list(read_entries(file))) == from_syntax_tree(stream.read()), file


def test_text_that_is_no_valid_python_does_no_harm(read: Read) -> None:
    assert functions(read(b"def f(): def g(): pass\ndef\ndef = 1\nclass\ndef 1x\n"))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="new in Python 3.12")
def test_type_parameters(read: Read) -> None:
    source = b"def f[T](a: T) -> T:\n    return a\nclass A[T]:\n    def g(self): pass\n"
    assert functions(read(source)) == from_syntax_tree(source)


def test_a_function_that_the_fault_cuts_off_is_not_reported(read: Read) -> None:
    entries = read(b"def f():\n    pass\ndef g():\n    '''\n")
    assert isinstance(entries[-1][1], Skipped)
    assert {name for _, _, name in functions(entries)} == {"f"}
