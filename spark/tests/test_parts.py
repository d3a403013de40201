"""What needs no Spark."""

import json

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytest.importorskip("pyspark", reason="pyspark is not installed")

from simhash_spark.clusters import number
from simhash_spark.source import lines_of


@pytest.mark.parametrize("value,written", [
    (1.0, "1.0"), (0.9259259259259259, "0.9259259259259259"), (0.0, "0.0"), (0.00015, "0.00015"), (1.5e-05, "0.000015"),
    (1e-05, "0.00001"), (1.5e-06, "1.5e-6"), (2e-07, "2e-7"),
])
def test_similarities_are_written_as_the_specification_says(value, written):
    assert number(value) == written


@pytest.mark.parametrize("split", [1, 2, 7, 50, 10_000])
def test_splits_have_each_line_once(tmp_path, split):
    path = tmp_path / "in.jsonl"
    lines = [json.dumps({"text": "长" * (number % 9), "id": number}, ensure_ascii=False) for number in range(40)]
    path.write_text("\ufeff" + "\n\n".join(lines), "utf-8")
    raw, found = path.read_bytes(), []
    for start in range(0, len(raw), split):
        for batch in lines_of(3, str(path), start, min(start + split, len(raw))):
            found += batch.to_pylist()
    assert b"\n".join(row["line"] for row in found) == raw
    for row in found:
        assert raw[row["pos"] - (3 << 40) :].startswith(row["line"])
