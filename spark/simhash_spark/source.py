"""Documents of any source with their places, and results of them in their order."""

import io

import pyarrow as pa
import pyarrow.fs as pfs
from pyspark.sql import functions as F

from . import worker as pipe

SPLIT = 32 << 20
RECORDS = "pos long, line string, text string, id string, key string, number string, rejected string"


def files(path):
    """The files of a path, which may be a folder or an address of any file system that Arrow knows, sorted by name, and their sizes."""
    system, at = pfs.FileSystem.from_uri(path) if "://" in path else (pfs.LocalFileSystem(), path)
    info = system.get_file_info(at)
    if info.type == pfs.FileType.NotFound:
        raise FileNotFoundError(f"{path}: there is no such file or folder")
    if info.type == pfs.FileType.File:
        return [(path, info.size)]
    found = [one for one in system.get_file_info(pfs.FileSelector(at, recursive=True)) if one.type == pfs.FileType.File]
    head = path[: len(path) - len(at)] if "://" in path else ""
    return [(head + one.path, one.size) for one in sorted(found, key=lambda one: one.path) if not one.base_name.startswith(("_", "."))]


def json_lines(spark, paths, worker, text="text", id="id", key=None, split=SPLIT):
    """JSON lines: `pos` is the number of the file << 40 | the byte at which the line begins. The worker takes them apart."""
    splits = []
    for number, (path, size) in enumerate(one for path in paths for one in files(path)):
        if path.endswith((".gz", ".zst", ".bz2", ".xz")):
            raise ValueError(f"{path}: a compressed file has no byte offsets to split at: decompress it, or make Parquet of it")
        splits += [(number, path, at, min(at + split, size)) for at in range(0, size, split)]
    spark.sparkContext.addFile(worker)
    frame = spark.createDataFrame(splits, "number long, path string, start long, end long")
    frame = frame.repartitionByRange(max(len(splits), 1), "number", "start")

    def read(batches):
        for batch in batches:
            for one in batch.to_pylist():
                yield from lines_of(one["number"], one["path"], one["start"], one["end"])

    fields = ["--text-field", text, "--id-field", id, *(["--keep-by", key] if key else [])]
    parsed = frame.mapInArrow(read, "pos long, line binary").mapInArrow(pipe.stage(worker, "records", fields), RECORDS)
    return parsed.withColumn("id", F.coalesce("id", F.col("pos").cast("string")))


def lines_of(number, path, start, end):
    """The lines that begin within these bytes, each with its position."""
    system, at = pfs.FileSystem.from_uri(path) if "://" in path else (pfs.LocalFileSystem(), path)
    positions, lines = [], []
    with system.open_input_file(at) as file, io.BufferedReader(file, 1 << 20) as stream:
        offset = start
        if start:
            # A line that began before belongs to the split before.
            stream.seek(start - 1)
            offset = start - 1 + len(stream.readline())
        while offset < end:
            line = stream.readline()
            if not line:
                break
            positions.append(number << 40 | offset)
            lines.append(line.removesuffix(b"\n"))
            offset += len(line)
            if len(lines) >= 4096:
                yield batch_of(positions, lines)
                positions, lines = [], []
    if lines:
        yield batch_of(positions, lines)


def batch_of(positions, lines):
    return pa.record_batch([pa.array(positions, pa.int64()), pa.array(lines, pa.binary())], names=["pos", "line"])


def parquet(spark, paths, text="text", id="id", key=None):
    """Parquet with all its columns: `pos` is the number of the file << 40 | the number of the row."""
    frame = spark.read.parquet(*paths)
    taken = {"pos", "document_text", "document_id", "document_key", "document_number"} & set(frame.columns)
    if taken:
        raise ValueError(f"columns {', '.join(sorted(taken))} of the input have names that are needed here: rename them")
    named = frame.select("*", F.col("_metadata.file_path").alias("document_file"), F.col("_metadata.row_index").alias("document_row"))
    paths = sorted(row[0] for row in named.select("document_file").distinct().collect())
    numbers = F.create_map(*[F.lit(cell) for number, path in enumerate(paths) for cell in (path, number)])
    pos = F.shiftleft(numbers[F.col("document_file")].cast("long"), 40).bitwiseOR(F.col("document_row"))
    named = named.withColumn("pos", pos).drop("document_file", "document_row")
    return with_columns(named, text, id, key)


def ordered(frame, by, text="text", id="id", key=None):
    """Any other frame, by a column of whole numbers that is different in every row."""
    if dict(frame.dtypes).get(by) not in ("bigint", "int", "smallint", "tinyint"):
        raise ValueError(f"--order-by {by}: there must be such a column of whole numbers")
    count = frame.agg(F.count("*"), F.count_distinct(by), F.min(by)).first()
    if count[0] != count[1] or (count[2] or 0) < 0:
        raise ValueError(f"--order-by {by}: {count[0]} rows have {count[1]} different values from {count[2]} on; each must have one of its own, at least 0")
    return with_columns(frame.withColumn("pos", F.col(by).cast("long")), text, id, key)


def with_columns(frame, text, id, key):
    """Beside all columns those that the stages need."""
    for name in filter(None, (text, id, key)):
        if name not in frame.columns:
            raise ValueError(f"there is no column {name}: there are {', '.join(frame.columns)}")
    if dict(frame.dtypes)[text] != "string":
        raise ValueError(f"column {text} must be a string, got {dict(frame.dtypes)[text]}")
    is_text = dict(frame.dtypes)[id] == "string"
    frame = frame.withColumn("document_text", F.col(text))
    known = F.regexp_extract(F.to_json(F.struct(F.col(id).alias("i"))), r'^\{"i":(.*)\}$', 1) if is_text else F.col(id).cast("string")
    frame = frame.withColumn("document_id", F.coalesce(known, F.col("pos").cast("string")))
    if not key:
        return frame
    kind = dict(frame.dtypes)[key]
    if kind == "string":
        return frame.withColumn("document_key", F.col(key))
    if kind in ("tinyint", "smallint", "int", "bigint", "float", "double"):
        value = F.col(key).cast("double") if kind == "float" else F.col(key)
        return frame.withColumn("document_number", value.cast("string"))
    raise ValueError(f"column {key} must have strings or numbers to be kept by, got {kind}: cast it")
