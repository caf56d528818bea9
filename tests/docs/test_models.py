"""The guide for authors of operators names models and blocks that exist, and leaves none out."""

from __future__ import annotations

import ast
import re

from rx_core import blocks as concurrency_blocks
from tests.docs.blocks import ROOT, anchors

GUIDE = (ROOT / "docs" / "guides" / "writing-operators.md").read_text(encoding="utf-8")
BLOCKS = (ROOT / "docs" / "guides" / "concurrency-blocks.md").read_text(encoding="utf-8")
SOURCE = ROOT / "packages" / "rx-ops" / "src" / "rx_ops"

#: The patterns that each need a model.
PATTERNS = [
    "stage", "one item", "post-complete", "drain", "arbiter", "half-serialized", "timed", "deferred", "multicast",
    "parts", "edge",
]  # fmt: skip


def _section(title: str) -> str:
    match = re.search(
        rf"^###? (?:\d\. )?{re.escape(title)}$(.*?)(?=^##)", GUIDE + "\n##", re.DOTALL | re.IGNORECASE | re.MULTILINE
    )
    assert match is not None, f"no section {title!r}"
    return match[1]


def _named(text: str) -> list[tuple[str, str]]:
    """``name`` in ``file`` pairs; in a row of names the last one has the file."""
    return re.findall(r"`(\w+)`\s+in\s+`([\w/]+\.py)`", text)


def _defined(file: str) -> set[str]:
    tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_every_pattern_has_a_model_that_exists() -> None:
    for pattern in PATTERNS:
        text = _section(pattern)
        assert text.strip().startswith("*Model:*"), pattern
        assert "*Specs:*" in text, pattern
        models = _named(text)
        assert models, pattern
        wrong = [f"{name} in {file}" for name, file in models if name not in _defined(file)]
        assert not wrong, wrong


def test_the_table_leads_to_each_pattern_and_names_what_its_section_explains() -> None:
    rows = re.findall(r"^\| .* \| (`.*`) \| \[(.*)\]\(#(.*)\) \|$", _section("Which operator to write yours after"), re.MULTILINE)
    assert {pattern for _, pattern, _ in rows} == set(PATTERNS)
    for models, pattern, anchor in rows:
        assert anchor in anchors(ROOT / "docs" / "guides" / "writing-operators.md")
        for model in re.findall(r"`(\w+)`", models):
            assert model in {name for name, _ in _named(_section(pattern))}, f"{model} is not explained under {pattern}"


def test_every_block_is_listed_with_its_section_of_the_specs() -> None:
    listed = _section("The blocks")
    kinds = [name for name in concurrency_blocks.__all__ if isinstance(getattr(concurrency_blocks, name), type)]
    missing = [name for name in kinds if name not in listed and name not in BLOCKS]
    assert not missing, missing
    sections = re.findall(r"^## (.*)$", BLOCKS, re.MULTILINE)
    blocks = sections[1 : sections.index("Testing what you build")]
    linked = re.findall(r"concurrency-blocks\.md#([\w-]+)", listed)
    assert linked == [re.sub(r"[^\w-]", "", title.lower().replace(" ", "-")) for title in blocks]
    for title in blocks[: blocks.index("map and filter in one")]:
        body = BLOCKS.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
        assert "*From:*" in body, title
