"""The loop in place of parameters: it runs all of them, says which one failed, and skips what all skip."""

from __future__ import annotations

import inspect

import pytest

from tests.conformance.each import each


def test_all_combinations_are_run_and_the_rest_is_left_to_pytest() -> None:
    seen: list[tuple[str, int, str, str]] = []

    @each("mode", ["fused", "off"])
    @each(("kind", "n"), [("list", 1), ("foreign", 2)])
    def tried(case: str, mode: str, kind: str, n: int) -> None:
        seen.append((case, n, kind, mode))

    assert list(inspect.signature(tried).parameters) == ["case"]
    tried(case="map")
    assert seen == [
        ("map", 1, "list", "fused"),
        ("map", 2, "foreign", "fused"),
        ("map", 1, "list", "off"),
        ("map", 2, "foreign", "off"),
    ]


def test_a_failure_says_which() -> None:
    @each("mode", ["fused", "off"])
    @each("n", [1, 2], ids=["one", "two"])
    def tried(mode: str, n: int) -> None:
        assert (mode, n) != ("off", 2), "broken"

    with pytest.raises(AssertionError, match="broken") as raised:
        tried()
    assert raised.value.__notes__ == ["with n = two", "with mode = 'off'"]


def test_what_is_skipped_for_one_value_is_tried_for_the_others() -> None:
    seen: list[int] = []

    @each("n", [1, 2, 3])
    def tried(n: int) -> None:
        if n == 1:
            pytest.skip("not this one")
        seen.append(n)

    tried()
    assert seen == [2, 3]


def test_what_is_skipped_for_all_is_skipped() -> None:
    @each("n", [1, 2])
    def tried(n: int) -> None:
        pytest.skip(f"not {n}")

    with pytest.raises(pytest.skip.Exception, match="not 1"):
        tried()
