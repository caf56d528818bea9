"""The examples of the guides that need Spark do what they say, in the session that the other tests have."""

from __future__ import annotations

from pathlib import Path

import pytest

from rx_fusion import fusion_enabled
from tests.docs.blocks import LOOSE, documents, examples, name_of, run

FIRST = "spark.md"
#: The ordinary run has those of the first guide, which has something of each kind; pytest alone and the night have all. It stands
#: first, because of several cases on Spark the first is left in the ordinary run (see conftest).
ON_SPARK = [
    path if path.name == FIRST else pytest.param(path, marks=pytest.mark.nightly)
    for path in sorted(documents(), key=lambda path: path.name != FIRST)
    if any(each.needs == "rx-spark" for each in examples(path))
]


@pytest.mark.skipif(not fusion_enabled(), reason="the examples show plans as they are with fusion")
@pytest.mark.spark
@pytest.mark.timeout(240)
@pytest.mark.parametrize("path", ON_SPARK, ids=name_of)
def test_examples_on_spark_run(path: Path) -> None:
    run(examples(path), strict=path not in LOOSE)
