"""The page that says where each operator runs on Spark is what the library says, and knows each operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from rx_fusion import fusion_enabled
from tests.conformance.operators import OPERATORS, Operator
from tools import spark_operators as tool

pytestmark = pytest.mark.skipif(not fusion_enabled(), reason="without fusion nothing is moved to Spark")


def test_the_page_is_what_the_library_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main(["--check"]) == 0, capsys.readouterr().err


def test_a_page_that_is_out_of_date_is_told_and_can_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert tool.main(["--check"], page) == 1
    assert tool.COMMAND in capsys.readouterr().err
    assert tool.main([], page) == 0
    assert tool.main(["--check"], page) == 0
    page.write_text(page.read_text(encoding="utf-8").replace("| `scan` | driver", "| `scan` | pass"), encoding="utf-8")
    assert tool.main(["--check"], page) == 1
    assert "| `scan` | driver | driver | needs its items in order" in capsys.readouterr().err


def test_an_operator_that_no_form_shows_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "OPERATORS", (*OPERATORS, Operator("unheard_of", "FO")))
    with pytest.raises(tool.PageError, match="unheard_of"):
        tool.page()


def test_the_sections_say_where() -> None:
    by_name = {(row.name, row.form): row for row in tool.rows()}
    assert by_name["map", ""].line() == "| `map` | column | pass | runs in one pass with its neighbours |  |"
    assert by_name["take", ""].line().startswith("| `take` | pass | pass |")
    assert by_name["to_list", ""].step.ends
    assert by_name["distinct", "with a key"].step.falls_back
