"""The Python examples of the documentation do what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from rx_fusion import fusion_enabled
from tests.docs.blocks import ROOT, Block, Example, blocks, documents, examples, matches, quoted, run
from tests.plugins.cold import cold

DOCUMENTS = documents()
#: Files whose examples need not say what they print.
LOOSE = [ROOT / "packages" / name / "README.md" for name in ("rx-asyncio", "rx-metrics", "rx-trio", "rx-spark")]


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


needs_fusion = pytest.mark.skipif(not fusion_enabled(), reason="the examples show plans as they are with fusion")


@needs_fusion
@pytest.mark.parametrize("path", DOCUMENTS, ids=_name)
def test_examples_run(path: Path) -> None:
    with cold():
        run([example for example in examples(path) if example.needs is None], strict=path not in LOOSE)


#: The ordinary run has those of the first guide, which has something of each kind; pytest alone and the night have all.
ON_SPARK = [
    path if path.name == "spark.md" else pytest.param(path, marks=pytest.mark.nightly)
    for path in DOCUMENTS
    if any(e.needs == "rx-spark" for e in examples(path))
]


@needs_fusion
@pytest.mark.spark
@pytest.mark.timeout(240)  # another JVM may be starting beside this one
@pytest.mark.parametrize("path", ON_SPARK, ids=_name)
def test_examples_on_spark_run(path: Path) -> None:
    run(examples(path), strict=path not in LOOSE)


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
