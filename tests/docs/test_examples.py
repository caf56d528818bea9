"""The Python examples of the documentation do what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from rx_fusion import fusion_enabled
from tests.docs.blocks import LOOSE, ROOT, Block, Example, blocks, documents, examples, matches, name_of, quoted, run
from tests.plugins.cold import cold

DOCUMENTS = documents()


@pytest.mark.skipif(not fusion_enabled(), reason="the examples show plans as they are with fusion")
@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_examples_run(path: Path) -> None:
    """Those that need Spark run with its tests: packages/rx-spark/tests/test_guides.py."""
    with cold():
        run([example for example in examples(path) if example.needs is None], strict=path not in LOOSE)


QUOTES = [block for path in DOCUMENTS for block in blocks(path) if "from" in block.directives]


@pytest.mark.parametrize("block", QUOTES, ids=lambda block: block.where)
def test_quotes_are_what_the_files_say(block: Block) -> None:
    assert quoted((ROOT / block.directives["from"]).read_text(encoding="utf-8"), block.text)


def test_every_need_is_one_that_some_test_fulfils() -> None:
    needs = {example.needs for path in DOCUMENTS for example in examples(path)}
    assert needs <= {None, "rx-spark"}


def test_what_imports_rx_spark_says_that_it_needs_it() -> None:
    found = [e.block.where for path in DOCUMENTS for e in examples(path) if "import rx_spark" in e.block.text and e.needs is None]
    assert found == []


def _example(text: str, expected: str | None = None, **directives: str) -> Example:
    return Example(Block(ROOT / "none.md", 1, "python", text, directives), expected)


def test_a_wrong_output_is_found() -> None:
    with pytest.raises(AssertionError, match="prints something else"):
        run([_example("print(1)", "2\n")])


def test_an_output_that_is_not_promised_is_found() -> None:
    with pytest.raises(AssertionError, match="without saying what"):
        run([_example("print(1)")])


def test_an_error_that_does_not_come_is_found() -> None:
    with pytest.raises(AssertionError, match="was not raised"):
        run([_example("1", None, raises="ValueError")])


def test_an_error_that_comes_unasked_is_raised_with_its_place() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run([_example("1 / 0")])
    assert caught.value.__notes__ == ["in the example none.md:1"]


def test_dots_stand_for_anything() -> None:
    assert matches("a 12 b\n", "a ... b")
    assert not matches("a 12 c\n", "a ... b")


def test_a_quote_may_leave_out_lines_but_not_change_them() -> None:
    assert quoted("def f():\n    a\n    b\n    c\n", "def f():\n    ...\n    c\n")
    assert not quoted("def f():\n    a\n    b\n    c\n", "def f():\n    a\n    c\n")
