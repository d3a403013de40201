"""What needs no Spark."""

import io
import json
import pathlib
import tokenize

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytest.importorskip("pyspark", reason="pyspark is not installed")

from simhash_spark import source
from simhash_spark.source import below, check_lines, files, id_json, lines_of

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
    (tmp_path / "in.jsonl").write_bytes(b"short\n" + b"x" * 60 + b"\n")
    with pytest.raises(ValueError, match="in.jsonl: a line of more than 2 GiB begins at byte 6"):
        list(lines_of(0, str(tmp_path / "in.jsonl"), 0, 67))


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


def test_the_driver_is_thin():
    """Lines with code, without comments and what documents a function: docs/scale.md says how many there may be."""
    none = (tokenize.COMMENT, tokenize.NL)
    between = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    count = 0
    for path in OWN.glob("*.py"):
        all = list(tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline))
        tokens, lines = [one for one in all if one.type not in none], set()
        for at, token in enumerate(tokens):
            starts = at == 0 or tokens[at - 1].type in between
            documents = token.type == tokenize.STRING and starts and tokens[at + 1].type == tokenize.NEWLINE
            if token.type not in between and not documents:
                lines.update(range(token.start[0], token.end[0] + 1))
        count += len(lines)
    assert count <= 420
