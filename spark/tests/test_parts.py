"""What needs no Spark."""

import io
import json
import pathlib
import tokenize

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytest.importorskip("pyspark", reason="pyspark is not installed")

import numpy as np
import pyarrow as pa
from simhash_spark import source, texts
from simhash_spark.source import below, check_lines, files, id_json, lines_of
from simhash_spark.texts import repeated, together, wanted

OWN = pathlib.Path(__file__).resolve().parents[1] / "simhash_spark"


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
@pytest.mark.parametrize("split", [1, 2, 7, 50, 10_000])
def test_splits_have_each_line_once(tmp_path, monkeypatch, split, block):
    monkeypatch.setattr(source, "BLOCK", block)
    path = tmp_path / "in.jsonl"
    lines = [json.dumps({"text": "长" * (number % 9), "id": number}, ensure_ascii=False) for number in range(40)]
    path.write_text("\ufeff" + "\n\n".join(lines), "utf-8")
    raw, found = path.read_bytes(), []
    for start in range(0, len(raw), split):
        for batch in lines_of(3 << 40, str(path), start, min(start + split, len(raw))):
            found += batch.to_pylist()
    assert b"".join(row["line"] for row in found) == raw
    for row in found:
        assert raw[row["pos"] - (3 << 40) :].startswith(row["line"])


@pytest.mark.parametrize("path,rest,whole", [
    ("/data/in", "/a b.jsonl", "/data/in/a b.jsonl"),
    ("/data/a.jsonl", "", "/data/a.jsonl"),
    ("s3://b/in?region=x", "/day/a.jsonl", "s3://b/in/day/a.jsonl?region=x"),
    ("s3://b/in/?region=x", "/a.jsonl", "s3://b/in/a.jsonl?region=x"),
    ("s3://b/a.jsonl?region=x", "", "s3://b/a.jsonl?region=x"),
    ("file:///a%20b", "/c d%.jsonl", "file:///a%20b/c%20d%25.jsonl"),
    ("hdfs://h:1/in", "/a.jsonl", "hdfs://h:1/in/a.jsonl"),
])
def test_a_file_below_an_address_has_its_own_address(path, rest, whole):
    assert below(path, rest) == whole


def test_a_line_beyond_a_column_is_refused_by_its_place(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "BLOCK", 4)
    monkeypatch.setattr(source, "MOST", 40)
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"short\n" + b"x" * 60 + b"\n")
    for start, byte in ((0, 6), (7, 6), (20, 19)):
        with pytest.raises(ValueError, match=f"in.jsonl: byte {byte} is in a line of 2 GiB or more"):
            list(lines_of(0, str(path), start, 67))
    for length in range(40):  # With its line feed no more than a column takes, wherever the blocks of the file end.
        path.write_bytes(b"short\n" + b"x" * length + b"\nnext\n")
        lines = [line for batch in lines_of(0, str(path), 0, 100) for line in batch.column("line").to_pylist()]
        assert lines == [b"short\n", b"x" * length + b"\n", b"next\n"]


class Sent:
    def __init__(self, *columns):
        self.value = [np.append(column, np.int64((1 << 63) - 1)) for column in columns]


def test_a_text_goes_once_to_each_part_that_asks_for_it(monkeypatch):
    wants = [(2, [5, 9]), (1, [9]), (2, [9, 7, 5])]
    cells = [np.array([0, *positions], np.int64).tobytes() for _, positions in wants]
    rows = pa.table({"part": pa.array([part for part, _ in wants], pa.int32()), "blob": pa.array(cells, pa.binary())})
    asked = wanted(rows).sort_by([("pos", "ascending"), ("part", "ascending")])
    assert asked.to_pylist() == [{"pos": pos, "part": part} for pos, part in ((5, 2), (7, 2), (9, 1), (9, 2))]
    assert wanted(rows.slice(0, 0)).num_rows == 0
    sent = Sent(*(column.to_numpy() for column in asked.columns))
    batch = pa.record_batch([pa.array([3, 5, 9]), pa.array([b"three", b"five", b"nine"])], ["pos", "line"])
    expected = [(5, b"five", 2), (9, b"nine", 1), (9, b"nine", 2)]
    for size, batches in ((1 << 20, 1), (12, 2), (1, 3)):
        monkeypatch.setattr(texts, "SLICE", size)
        found = list(repeated(sent)([batch]))
        assert len(found) == batches
        assert [tuple(row.values()) for one in found for row in one.to_pylist()] == expected


@pytest.mark.parametrize("counts", [[], [0], [1], [3, 0, 2]])
def test_lines_of_a_batch_go_out_in_one_cell(counts):
    batches, lines = [], []
    for count in counts:
        own = [f"{{{len(lines)}: 长}}" for _ in range(count)]
        whole = pa.record_batch([pa.array(range(count + 2)), pa.array(["before", *own, "behind"])], ["pos", "line"])
        batches.append(whole.slice(1, count))
        lines += own
    found = list(together(iter(batches)))
    assert [one.num_rows for one in found] == [1 for count in counts if count]
    assert "\n".join(line for one in found for line in one.column("line").to_pylist()) == "\n".join(lines)


def test_files_of_an_address_are_those_that_are_read(tmp_path):
    (tmp_path / "a b" / "c%d").mkdir(parents=True)
    for name in ("b.jsonl", "c%d/é#?.jsonl", "_SUCCESS"):
        (tmp_path / "a b" / name).write_text('{"text":"长"}\n')
    for folder in (f"file://{tmp_path}/a%20b", f"{tmp_path}/a b"):
        found = files(folder)
        assert [path.removeprefix(folder) for path, _ in found][:1] == ["/b.jsonl"] and len(found) == 2
        for path, size in found:
            assert sum(batch.num_rows for batch in lines_of(0, path, 0, size)) == 1


@pytest.mark.parametrize("path", ["/in/a.parquet", "s3://b/a.orc?region=x", "a.avro", "a.arrow"])
def test_a_table_is_not_read_as_lines(path):
    with pytest.raises(ValueError, match="no file of JSON lines"):
        check_lines(path)
    check_lines("s3://b/a.jsonl?from=a.parquet")
    with pytest.raises(ValueError, match="compressed"):
        check_lines("s3://b/a.jsonl.gz?region=x")


@pytest.mark.parametrize("kind", ["date", "timestamp", "binary", "double", "float", "boolean", "decimal(9,2)", "array<string>"])
def test_an_id_is_a_string_or_a_whole_number(kind):
    with pytest.raises(ValueError, match="column id must be a string or a whole number to be an id, got"):
        id_json("id", {"id": kind})


@pytest.mark.parametrize("files,most", [(["__init__", "__main__", "chain", "run", "texts", "worker"], 297), (["source"], 135)])
def test_the_driver_is_thin(files, most):
    """Lines with code, without comments and what documents a function, of the driver and of what reads sources: docs/scale.md says how many
    there may be."""
    none = (tokenize.COMMENT, tokenize.NL)
    between = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    count = 0
    assert {path.stem for path in OWN.glob("*.py")} == {"__init__", "__main__", "chain", "run", "texts", "worker", "source"}
    for path in (OWN / f"{name}.py" for name in files):
        all = list(tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline))
        tokens, lines = [one for one in all if one.type not in none], set()
        for at, token in enumerate(tokens):
            starts = at == 0 or tokens[at - 1].type in between
            documents = token.type == tokenize.STRING and starts and tokens[at + 1].type == tokenize.NEWLINE
            if token.type not in between and not documents:
                lines.update(range(token.start[0], token.end[0] + 1))
        count += len(lines)
    assert count <= most
