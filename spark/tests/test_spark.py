"""Spark has the bytes of the command line."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import CLI, corpus, missing, worker_path

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"Spark is not tested: {missing()}")
SPARK = pathlib.Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Two files of JSON lines."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "in").mkdir()
    for name, seed in (("a", 1), ("b", 2)):
        (folder / "in" / f"{name}.jsonl").write_text(corpus(900, seed), "utf-8")
    return folder


def spark(master, *arguments, conf=()):
    settings = ["spark.driver.memory=600m", "spark.executor.memory=480m", "spark.executor.cores=1", "spark.driver.host=127.0.0.1",
                "spark.driver.bindAddress=127.0.0.1", "spark.sql.shuffle.partitions=4", *conf]
    environment = {**os.environ, "PYTHONPATH": str(SPARK), "SIMHASH_WORKER": worker_path(),
                   "PYSPARK_SUBMIT_ARGS": " ".join([f"--master {master}", *(f"--conf {one}" for one in settings), "pyspark-shell"])}
    return subprocess.run([sys.executable, "-m", "simhash_spark", "dedup", *map(str, arguments)],
                          env=environment, capture_output=True, text=True, timeout=550)


def joined(path):
    return b"".join(part.read_bytes() for part in sorted(path.glob("part-*")))


def expected(folder, name, options):
    out = folder / f"cli-{name}"
    out.mkdir()
    inputs = [folder / "in" / "a.jsonl", folder / "in" / "b.jsonl"]
    subprocess.run(["node", CLI, "dedup", *inputs, "-o", out / "records.jsonl", "--clusters", out / "clusters.jsonl", *options],
                   check=True, capture_output=True)
    return (out / "records.jsonl").read_bytes(), (out / "clusters.jsonl").read_bytes()


MATRIX = [
    ("first", [], 4, ["spark.speculation=true"]),
]
if os.environ.get("SIMHASH_SPARK_MATRIX") == "all":
    MATRIX += [
        (f"{cluster}-{keep}-{parts}", ["--cluster", cluster, "--keep", keep], parts, ["spark.speculation=true"])
        for cluster in ("representative", "components") for keep in ("first", "last", "longest", "newest") for parts in (1, 64)
    ]


@pytest.mark.parametrize("name,options,parts,conf", MATRIX, ids=[row[0] for row in MATRIX])
def test_bytes_are_those_of_the_command_line(master, folder, name, options, parts, conf):
    records, clusters = expected(folder, name, options)
    out = folder / f"spark-{name}"
    ended = spark(master, folder / "in", "-o", out, "--parts", parts, *options, conf=conf)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert joined(out / "clusters").decode() == clusters.decode()
    got = joined(out / "records")
    # The last line of a file may lack its end; Spark ends every line.
    assert got.splitlines() == [line for line in records.splitlines() if line]
    counts = json.loads(ended.stdout.splitlines()[-1])
    assert counts["documents"] == counts["kept"] + counts["duplicates"]
    print(name, counts)
