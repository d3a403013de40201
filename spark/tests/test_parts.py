"""What needs no Spark."""

import io
import json
import pathlib
import tokenize

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytest.importorskip("pyspark", reason="pyspark is not installed")

from simhash_spark.source import lines_of

OWN = pathlib.Path(__file__).resolve().parents[1] / "simhash_spark"


@pytest.mark.parametrize("split", [1, 2, 7, 50, 10_000])
def test_splits_have_each_line_once(tmp_path, split):
    path = tmp_path / "in.jsonl"
    lines = [json.dumps({"text": "长" * (number % 9), "id": number}, ensure_ascii=False) for number in range(40)]
    path.write_text("\ufeff" + "\n\n".join(lines), "utf-8")
    raw, found = path.read_bytes(), []
    for start in range(0, len(raw), split):
        for batch in lines_of(3 << 40, str(path), start, min(start + split, len(raw))):
            found += batch.to_pylist()
    assert b"\n".join(row["line"] for row in found) == raw
    for row in found:
        assert raw[row["pos"] - (3 << 40) :].startswith(row["line"])


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
    assert count <= 350
