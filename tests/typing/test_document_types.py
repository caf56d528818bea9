"""The types of the documentation: what a checker takes for Any, and what is wrong, is told with its line in the page."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from tools import document_types

PAGE = """
    # A page

    ```python
    import json

    from rx_ops import Flowable

    numbers = Flowable.range(3).map(lambda n: n * 2)
    print(numbers.blocking_list())
    ```

    A name may be taken again, and what is untyped is told.

    ```python
    numbers = Flowable.of("a")
    read = json.loads("1")
    print(Flowable.of(read).blocking_list())
    numbers.map(len).map(lambda n: n.upper())
    ```

    <!-- any: json -->
    ```python
    read = json.loads("2")
    numbers.mapp(len)
    ```

    <!-- raises: AttributeError -->
    ```python
    numbers.mapp(len)
    ```
    """


@pytest.mark.timeout(180)
def test_what_is_untyped_and_what_is_wrong_is_told_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(dedent(PAGE), encoding="utf-8")
    assert document_types.main([str(page)]) == 1
    *found, last = capsys.readouterr().out.splitlines()
    places = {(int(match[1]), match[2]) for line in found if (match := re.search(r"page\.md:(\d+): (mypy|pyright): ", line))}
    assert len(found) == len([line for line in found if "page.md:" in line])
    lines = dedent(PAGE).splitlines()
    wrong = {line: number for number, line in enumerate(lines, 1)}
    assert (wrong['read = json.loads("1")'], "mypy") in places
    assert (wrong["print(Flowable.of(read).blocking_list())"], "mypy") in places
    assert {(wrong["numbers.map(len).map(lambda n: n.upper())"], checker) for checker in ("mypy", "pyright")} <= places
    of_the_marked = lines.index("<!-- any: json -->") + 4
    assert {(of_the_marked + 0, checker) for checker in ("mypy", "pyright")} <= places  # mapp: Any is all that is forgiven
    assert {number for number, _ in places} == {
        wrong['read = json.loads("1")'],
        wrong["print(Flowable.of(read).blocking_list())"],
        wrong["numbers.map(len).map(lambda n: n.upper())"],
        of_the_marked,
    }
    assert last.endswith("problems in 1 pages")


@pytest.mark.timeout(180)
def test_a_page_that_is_exact_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(dedent(PAGE).split("A name may")[0], encoding="utf-8")
    assert document_types.main([str(page)]) == 0
    assert capsys.readouterr().out == "1 pages have exact types\n"
