"""Spark has the bytes of the command line: on a master and two workers, with speculation."""

import gzip
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import CLI, SETTINGS, corpus, missing, worker_path

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"Spark is not tested: {missing()}")
LONG = os.environ.get("SIMHASH_SPARK_MATRIX") == "all"
# Documents of each of the two files.
COUNT = 30_000 if LONG else 900
# Ids that a line of JSON has to escape, and some that it must not.
AWKWARD = ['q"\\', "line\u2028end\u2029\u0085", "\b\f\n\r\t\x00\x0b\x1f\x7f", "新/é", ""]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Two files of JSON lines, and the same documents as Parquet and ORC."""
    import pyarrow as pa
    import pyarrow.orc
    import pyarrow.parquet

    folder = tmp_path_factory.mktemp("corpus")
    for name in ("in", "parquet", "orc"):
        (folder / name).mkdir()
    at = 0
    for name, seed in (("a", 1), ("b", 2)):
        lines = corpus(COUNT, seed)
        if name == "b":
            # Near those of the first file, for match.
            rows = [json.loads(line) for line in corpus(COUNT, 1).splitlines()[:COUNT // 3] if line.strip() and "\\ud800" not in line]
            near = [{**row, "text": row["text"][:9] + "新" * (len(row["text"]) > 20) + row["text"][9:]} for row in rows]
            lines = "\n".join([lines, *(json.dumps(row) for row in near)])
        rejected = '\nno record\n{"text":7}\n' if name == "a" else ""
        (folder / "in" / f"{name}.jsonl").write_text(lines + rejected, "utf-8")
        rows = [json.loads(line) for line in lines.splitlines()[:900] if line.strip() and "\\ud800" not in line]
        ids = [AWKWARD[n % len(AWKWARD)] + json.dumps(row["id"]) for n, row in enumerate(rows)]
        table = pa.table({"id": ids, "text": [row["text"] for row in rows],
                          "length": [len(row["text"]) for row in rows], "at": [5 * (at + n) for n in range(len(rows))]})
        at += len(rows)
        pyarrow.parquet.write_table(table, folder / "parquet" / f"{name}.parquet", row_group_size=100)
        # In an order of its own: the column says which.
        pyarrow.orc.write_table(table.take(list(range(len(rows)))[::-1]), folder / "orc" / f"{name}.orc")
    return folder


def node(*words):
    environment = {**os.environ, "SIMHASH_WORKER": worker_path(), "SIMHASH_SPARK_PYTHON": sys.executable}
    ended = subprocess.run(["node", CLI, *map(str, words)], capture_output=True, text=True, env=environment, timeout=1800)
    assert ended.returncode in (0, 1), ended.stderr[-3000:]
    return ended.stdout


def on_spark(session, *words):
    """What `simhash-native spark` would run, in the session of the tests."""
    from simhash_spark import run, source

    job = json.loads(shlex.split(node("spark", *words, "--emit-command"))[-1])
    context, sent = session.sparkContext, []
    broadcast = context.broadcast
    context.broadcast = lambda value: sent.append(broadcast(value)) or sent[-1]
    try:
        counts = run(job.pop("inputs"), job.pop("output"), **job)
    finally:
        del context.broadcast
    # What was kept for the run is freed.
    assert session._jsparkSession.sharedState().cacheManager().isEmpty()
    assert (sent or not source.FEW) and not any(os.path.exists(one._path) for one in sent)
    figures = {name: value for name, value in counts.items() if name != "stages"}
    print(" ".join(map(str, words[:1] + words[4:])), json.dumps(figures))
    # Every stage says what it took.
    assert counts["stages"]["sketch"]["cpuSeconds"] > 0 and counts["shuffledBytes"] > 0
    return counts


def joined(path):
    return b"".join(part.read_bytes() for part in sorted(path.glob("part-*")))


def same_lines(folder, name, words, spark):
    """Runs the command line and Spark on the files; all that they write is the same."""
    out, local = folder / f"spark-{name}", folder / f"cli-{name}"
    local.mkdir()
    files = sorted((folder / "in").iterdir())
    told = json.loads(node("dedup", *files, "-o", local / "records.jsonl", "--clusters", local / "clusters.jsonl", "--rejects", local / "rejects.jsonl", "--json", *words))
    counts = spark("dedup", folder / "in", "-o", out, *words)
    expected = (local / "clusters.jsonl").read_bytes()
    assert joined(out / "clusters") == expected
    records = (local / "records.jsonl").read_bytes()
    # The last line of a file may lack its end; Spark ends every line.
    assert joined(out / "records").splitlines() == [line for line in records.splitlines() if line]
    assert counts["documents"] == counts["kept"] + counts["duplicates"]
    assert (counts["kept"], counts["duplicates"], counts.get("rejected", 0)) == (told["kept"], told["duplicates"], told["rejected"])
    assert counts["texts"] > 0 and ("exact" in words or counts["entries"] > counts["shared"] > 0)
    assert counts["clusters"] == expected.count(b"\n")
    assert counts["duplicates"] == expected.count(b'{"id":') - counts["clusters"]


def test_the_command_has_the_bytes_of_the_command_line(master, folder):
    settings = [word for name, value in SETTINGS.items() for word in ("--conf", f"{name}={value}")]

    def spark(*words):
        return json.loads(node("spark", *words, "--master", master, *settings, "--parts", 4, "--json"))

    same_lines(folder, "command", [], spark)
    rejected = [json.loads(line) for line in joined(folder / "spark-command" / "rejects").splitlines()]
    reasons = [json.loads(line) for line in (folder / "cli-command" / "rejects.jsonl").read_text("utf-8").splitlines()]
    assert [row["reason"] for row in rejected] == [row["reason"] for row in reasons]
    assert [row["raw"] for row in rejected] == ["no record", '{"text":7}']


# Of each method one, for every run takes some dozens of jobs of Spark.
ROWS = [
    ("simhash", ["--method", "simhash", "--max-distance", "4"]),
    ("sentences", ["--method", "sentences", "--sentences", "3", "--verify", "containment"]),
]
if LONG:
    ROWS += [
        ("simhash-bare", ["--method", "simhash", "--verify", "off", "--cluster", "components", "--keep", "last"]),
        ("exact", ["--method", "exact"]),
        ("features", ["--features", "chars", "--ngram", "3", "--min-similarity", "0.7"]),
    ]
MATCHES = [("plain", [])]
TABLES = [("parquet", ["--format", "parquet"])]
if LONG:
    MATCHES += [("cut", ["--limit", "1", "--method", "simhash", "--max-distance", "3"])]
    TABLES += [("orc", ["--format", "orc", "--order-by", "at"])]


@pytest.mark.parametrize("name,words", ROWS, ids=[row[0] for row in ROWS])
def test_methods_have_the_bytes_of_the_command_line(session, folder, name, words):
    same_lines(folder, name, words, lambda *all: on_spark(session, *all))


def test_what_is_too_much_for_every_executor_is_joined(session, folder, monkeypatch):
    from simhash_spark import source

    monkeypatch.setattr(source, "FEW", 0)
    same_lines(folder, "joined", [], lambda *all: on_spark(session, *all))


# Turns of stars, and rounds, until nothing moves; and one, after which one task does what is left.
APART = [("representative", 1, ["--keep", "longest"]), ("components", 20, ["--keep", "last"])]
if LONG:
    APART += [("representative", 20, []), ("components", 1, ["--keep", "longest"])]


@pytest.mark.parametrize("cluster,turns,words", APART, ids=[f"{row[0]}-{row[1]}" for row in APART])
def test_what_is_too_much_for_one_task_is_decided_apart(session, folder, monkeypatch, cluster, turns, words):
    from simhash_spark import chain

    monkeypatch.setattr(chain, "TOGETHER", 0)
    monkeypatch.setattr(chain, "TURNS", turns)
    found = []

    def spark(*all):
        found.append(on_spark(session, *all, "--parts", 4))
        return found[0]

    same_lines(folder, f"apart-{cluster}-{turns}", ["--cluster", cluster, *words], spark)
    own = {"components": {"stars", "large", "small", "group"}, "representative": {"waits", "round"}}
    assert {"stars", "large", "small", "group", "waits", "round"} & set(found[0]["stages"]) == own[cluster]
    assert 1 < found[0]["turns"] < turns or found[0]["turns"] == turns + 1 == 2
    assert "moved" not in found[0]


def test_what_is_connected_with_nothing_is_no_duplicate(session, monkeypatch):
    from simhash_spark import chain, dedup

    monkeypatch.setattr(chain, "TOGETHER", 0)
    frame = session.createDataFrame([(at, "" if at else "短文") for at in range(4)], "pos long, text string")
    for cluster in ("representative", "components"):
        found = dedup(session, frame, {"cluster": cluster}, worker=worker_path(), parts=2)
        assert found.collect() == []
        found.unpersist()


@pytest.mark.parametrize("name,words", MATCHES, ids=[row[0] for row in MATCHES])
def test_match_has_the_bytes_of_the_command_line(session, folder, name, words):
    new, old = folder / "in" / "b.jsonl", folder / "in" / "a.jsonl"
    expected, clean = folder / f"match-{name}.jsonl", folder / f"clean-{name}.jsonl"
    node("match", new, "--against", old, "-o", expected, *words)
    counts = on_spark(session, "match", new, "-o", folder / f"match-{name}", "--against", old, *words)
    assert joined(folder / f"match-{name}" / "matches").decode() == expected.read_text("utf-8")
    assert counts["matched"] > 100
    node("match", new, "--against", old, "--remove", "-o", clean, *[word for word in words if word not in ("--limit", "1")])
    assert joined(folder / f"match-{name}" / "records").splitlines() == [line for line in clean.read_bytes().splitlines() if line]


@pytest.mark.parametrize("kind,words", TABLES, ids=[row[0] for row in TABLES])
def test_tables_keep_all_columns_and_decide_as_the_command_line_does(session, folder, kind, words):
    import pyarrow.parquet

    given = [folder / "parquet" / f"{name}.parquet" for name in "ab"]
    clusters, kept = folder / f"{kind}.clusters.jsonl", folder / f"{kind}.kept.parquet"
    rule = ["--keep", "largest", "--keep-by", "length"]
    node("dedup", *given, "-o", kept, "--clusters", clusters, *rule)
    on_spark(session, "dedup", folder / kind, "-o", folder / f"spark-{kind}", *words, *rule)
    assert joined(folder / f"spark-{kind}" / "clusters").decode() == clusters.read_text("utf-8")
    parts = sorted((folder / f"spark-{kind}" / "records").glob("part-*"))
    rows = [row for part in parts for row in pyarrow.parquet.read_table(part).to_pylist()]
    assert rows == pyarrow.parquet.read_table(kept).to_pylist()


def test_an_order_that_is_none_is_refused(session, folder):
    from simhash_spark import run

    with pytest.raises(ValueError, match="each must have one of its own"):
        run([str(folder / "orc")], str(folder / "none"), worker=worker_path(), format="orc", order_by="length")
    with pytest.raises(ValueError, match="there is no column body"):
        run([str(folder / "parquet")], str(folder / "none"), worker=worker_path(), format="parquet", text_field="body")


def test_options_that_the_worker_refuses_are_refused_by_the_driver(session, folder):
    from simhash_spark import run

    for words, match in (({"memory": "1K"}, "--memory must be bytes"), ({"parts": 70_000}, "--parts must be a whole number"),
                         ({"recipe": {"keep": "best"}}, "keep")):
        with pytest.raises(ValueError, match=match):
            run([str(folder / "in")], str(folder / "none"), worker=worker_path(), **words)


def test_ids_of_tables_are_json_or_none(session, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    from simhash_spark import run, source

    ids = [*AWKWARD, None]
    path, whole = tmp_path / "in.parquet", 2**64 - 1
    rows = {"id": ids, "text": ["同一篇文章的内容，足够长，可以比较。" * 3] * len(ids), "number": pa.array([whole] * len(ids), pa.uint64())}
    pyarrow.parquet.write_table(pa.table(rows), path)

    def read(id, path=path):
        return [row.id for row in source.parquet(session, [str(path)], id=id).frame.orderBy("pos").select("id").collect()]

    assert [one and json.loads(one) for one in read(None)] == ids
    assert read("number") == [str(whole)] * len(ids)
    bare = tmp_path / "bare.parquet"
    pyarrow.parquet.write_table(pa.table({"text": ["短文"]}), bare)
    assert read(None, bare) == [None]
    with pytest.raises(ValueError, match="there is no column id: there are text"):
        read("id", bare)
    if LONG:
        run([str(path)], str(tmp_path / "out"), worker=worker_path(), format="parquet", parts=2)
        members = json.loads(joined(tmp_path / "out" / "clusters"))["members"]
        assert [one["id"] for one in members] == [*AWKWARD, len(AWKWARD)]


def test_a_run_that_fails_frees_what_it_kept(session, folder, tmp_path, monkeypatch):
    from simhash_spark import dedup, run
    from simhash_spark.chain import Chain

    def fails(*_, **__):
        assert not session._jsparkSession.sharedState().cacheManager().isEmpty()
        raise ValueError("no such stage")

    monkeypatch.setattr(Chain, "stage", fails)
    with pytest.raises(ValueError, match="no such stage"):
        run([str(folder / "in")], str(tmp_path / "out"), worker=worker_path())
    assert session._jsparkSession.sharedState().cacheManager().isEmpty()
    with pytest.raises(ValueError, match="no such stage"):
        dedup(session, session.createDataFrame([(0, "短文")], "pos long, text string"), worker=worker_path())
    assert session._jsparkSession.sharedState().cacheManager().isEmpty()


def test_files_of_another_format_are_refused(session, folder, tmp_path):
    from simhash_spark import run

    mixed = tmp_path / "mixed"
    mixed.mkdir()
    shutil.copy(folder / "in" / "a.jsonl", mixed)
    shutil.copy(folder / "parquet" / "a.parquet", mixed)
    for words in ({}, {"order_by": "at"}):
        with pytest.raises(ValueError, match="a.parquet: this is no file of JSON lines"):
            run([str(mixed)], str(tmp_path / "none"), worker=worker_path(), **words)
    with pytest.raises(ValueError, match="a.parquet: this is no file of JSON lines"):
        run([str(folder / "in")], str(tmp_path / "none"), worker=worker_path(), against=[str(folder / "parquet")])


def kill_an_executor(killed, files):
    """Ends an executor with -9 once so many more files of shuffles are on its disk."""
    scratch, end = pathlib.Path(os.environ["SPARK_LOCAL_DIRS"]), time.monotonic() + 600
    before = set(scratch.rglob("shuffle_*.data"))
    while time.monotonic() < end and not killed:
        written = set(scratch.rglob("shuffle_*.data")) - before
        if len(written) >= files:
            for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                words = path.read_bytes() if path.exists() else b""
                if b"CoarseGrainedExecutorBackend" in words and str(scratch).encode() in environment_of(path.parent):
                    os.kill(int(path.parent.name), signal.SIGKILL)
                    killed.append(int(path.parent.name))
                    return
        time.sleep(0.1)


def environment_of(process):
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""


# In the second turn of a stage, when there are frames of others, or these have been released; and before anything is decided.
KILLED = [("representative", "round")]
if LONG:
    KILLED += [("components", "small"), ("components", None), ("representative", None)]


@pytest.mark.parametrize("cluster,stage", KILLED)
def test_an_executor_that_is_killed_changes_nothing(session, folder, cluster, stage, monkeypatch):
    from simhash_spark import chain

    killed, turns, run = [], [], chain.Chain.stage

    def kill(files):
        threading.Thread(target=kill_an_executor, args=(killed, files), daemon=True).start()

    def in_second_turn(self, name, *all, **named):
        turns.extend([name] if name == stage else [])
        if name == stage and len(turns) == 2:
            kill(1)
        return run(self, name, *all, **named)

    if stage:
        monkeypatch.setattr(chain, "TOGETHER", 0)
        monkeypatch.setattr(chain.Chain, "stage", in_second_turn)
    else:
        kill(8)
    same_lines(folder, f"killed-{cluster}-{stage}", ["--cluster", cluster, "--keep", "longest"], lambda *all: on_spark(session, *all, "--parts", 4))
    assert killed


if LONG:
    # npm run test:long -- spark
    MATRIX = [(f"{cluster}-{keep}-{parts}", ["--cluster", cluster, "--keep", keep], parts)
              for cluster in ("representative", "components") for keep in ("first", "longest", "newest") for parts in (1, 64)]

    @pytest.mark.parametrize("name,words,parts", MATRIX, ids=[row[0] for row in MATRIX])
    def test_matrix_has_the_bytes_of_the_command_line(session, folder, name, words, parts):
        same_lines(folder, name, words, lambda *all: on_spark(session, *all, "--parts", parts))
        for one in folder.glob(f"*-{name}"):
            shutil.rmtree(one)

    # 592,598 news, titles and pages: data of its own, which is not part of this repository.
    REAL = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"
    SETS = ["zh-news-eventmonitor", "zh-hotsearch-titles", "zh-docs-tidb"]

    @pytest.mark.skipif(not all((REAL / name).is_dir() for name in SETS), reason=f"the corpora of {REAL} are not there")
    @pytest.mark.parametrize("cluster", ["representative", "components"])
    def test_real_texts_have_the_bytes_of_the_command_line(session, tmp_path, cluster):
        (tmp_path / "in").mkdir()
        for name in SETS:
            with gzip.open(REAL / name / "docs.jsonl.gz") as packed, open(tmp_path / "in" / f"{name}.jsonl", "wb") as file:
                shutil.copyfileobj(packed, file)
        counts = []
        same_lines(tmp_path, cluster, ["--cluster", cluster], lambda *all: counts.append(on_spark(session, *all)) or counts[0])
        assert counts[0]["documents"] == 592_598
