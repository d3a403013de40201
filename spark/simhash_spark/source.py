"""Documents of any source, with their places."""

from dataclasses import dataclass, field
from functools import reduce
from urllib.parse import quote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.fs as pfs
from pyspark.sql import functions as F

from . import texts, worker as pipe

SPLIT, BLOCK = 32 << 20, 1 << 20  # Bytes of a part of a file, and those that are read at once.
MOST = (1 << 31) - 1  # Bytes that a column of Arrow takes.
NEW = 1 << 62  # Positions of new documents have this bit, so that those of old ones are before them.
FEW = 50_000_000  # Positions that every executor is given at most, repeated ones counted, 8 bytes each, half as many where each has a part; more are joined.
TABLES = (".parquet", ".orc", ".avro", ".arrow")
# How the command line writes a string of a table: all else stays as it is.
ESCAPES = {"\\": "\\\\", **{sign: f"\\u{ord(sign):04x}" for sign in map(chr, range(32))}, '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass
class Source:
    """A frame whose rows are documents, or `lines` makes Arrow batches of lines of them, `records` documents of these, and `fields` are the
    options that say what is in a line. Of what is rejected the text is null."""

    frame: object
    lines: object = None
    records: object = None
    fields: tuple = ()
    spent: object = None
    sent: list = field(default_factory=list)  # Broadcasts, which rows that are made again need again.

    def map(self, function, columns, schema, rejected=False, keep=None, parsed=True):
        """What a function makes of the batches of these columns, as far as there are such. `keep`: what is left of a batch with `pos`; not
        `parsed`: the function takes lines apart by itself."""
        frame, lines, records = self.frame, self.lines, self.records if parsed else None
        if not lines:
            columns = [name for name in columns if name in frame.columns]
            frame = frame.select(columns if rejected else [*columns, *({"text"} - set(columns))])
        elif not parsed:
            columns, rejected = ["pos", "line"], True

        def documents(batches):
            batches = lines(batches) if lines else batches
            batches = map(keep, batches) if keep else batches
            for batch in records(batches) if records else batches:
                yield (batch if rejected else batch.filter(batch.column("text").is_valid())).select(columns)

        return frame.mapInArrow(pipe.counted(lambda batches: function(documents(batches)), self.spent), schema)

    def send(self, rows):
        """Gives every executor columns of numbers, in the order of `pos`, and a last row behind all others."""
        columns = [np.append(column.to_numpy(), np.int64((1 << 63) - 1)) for column in rows.sort_by("pos").columns]
        self.sent.append(self.frame.sparkSession.sparkContext.broadcast(columns))
        return self.sent[-1]

    def chosen(self, positions, columns, schema, inside=True, made=iter):
        """The documents at these positions, or all others, which stay in order; `made`: what is made of batches that are not joined."""
        if positions.count() > FEW:
            frame = self.map(iter, columns, schema)
            return frame.join(positions, "pos", "left_semi") if inside else frame.join(positions, "pos", "left_anti").orderBy("pos")
        return self.map(made, columns, schema, keep=texts.among(self.send(positions.toArrow()), inside))

    def asked(self, wants, stage):
        """The texts that are asked for, in the parts that ask for them."""
        function, columns = stage("answer", self.fields), ["pos", "text"]
        if not (size := wants.agg(F.sum(F.length("blob"))).first()[0]):
            return wants
        if size > FEW // 2 * 8:
            wanted = wants.mapInArrow(lambda batches: (one for batch in batches for one in texts.wanted(batch).to_batches()), "pos long, part int").distinct()
            found = self.chosen(wanted.select("pos").distinct(), columns, "pos long, text string").join(wanted, "pos")
            return found.mapInArrow(pipe.counted(function, self.spent), pipe.ROWS)
        repeat = texts.repeated(self.send(texts.wanted(wants.toArrow())))  # Nothing is joined: a text goes to each part once, and nowhere else.
        return self.map(lambda batches: function(repeat(batches)), columns, pipe.ROWS, parsed=False)


def located(path):
    """The file system of a path, which may be an address of any that Arrow knows, and the path in it."""
    return pfs.FileSystem.from_uri(path) if "://" in path else (pfs.LocalFileSystem(), path)


def files(path):
    """The files of a path, those of a folder sorted by name, and their sizes."""
    system, at = located(path)
    info = system.get_file_info(at)
    if info.type == pfs.FileType.NotFound:
        raise FileNotFoundError(f"{path}: there is no such file or folder")
    found = [info] if info.is_file else system.get_file_info(pfs.FileSelector(at, recursive=True))
    found = [one for one in found if one.is_file and (info.is_file or not one.base_name.startswith(("_", ".")))]
    return [(below(path, one.path[len(info.path) :]), one.size) for one in sorted(found, key=lambda one: one.path)]


def below(path, rest):
    """A path with more behind it; in an address that comes before what is behind the `?`, and has its own letters for some signs."""
    if "://" not in path or not rest:
        return path + rest
    parts = urlsplit(path)
    return parts._replace(path=parts.path.rstrip("/") + "/" + quote(rest.lstrip("/"))).geturl()


def check_lines(path):
    """Refuses a file that has no lines, by its name."""
    name = urlsplit(path).path if "://" in path else path
    if name.endswith((".gz", ".zst", ".bz2", ".xz")):
        raise ValueError(f"{path}: a compressed file has no byte offsets to split at: decompress it, or make Parquet of it")
    if name.endswith(TABLES):
        raise ValueError(f"{path}: this is no file of JSON lines: --format names what all inputs are, and files of two formats take two runs")


def json_lines(spark, paths, worker, text="text", id=None, key=None, split=SPLIT, side=0):
    """JSON lines: `pos` is the number of the file << 40 | the byte at which the line begins. The worker takes them apart."""
    splits = []
    for number, (path, size) in enumerate(one for path in paths for one in files(path)):
        check_lines(path)
        splits += [(side | number << 40, path, at, min(at + split, size)) for at in range(0, size, split)]
    # One split to a partition, in order.
    rows = spark.sparkContext.parallelize(splits, max(len(splits), 1))
    fields = ("--text-field", text, "--id-field", id or "id", *(("--keep-by", key) if key else ()))
    frame = spark.createDataFrame(rows, "base long, path string, start long, end long")
    return Source(frame, lambda batches: (found for batch in batches for one in batch.to_pylist() for found in lines_of(**one)), pipe.stage(worker, "records", fields), fields)


def lines_of(base, path, start, end):
    """The lines that begin within these bytes, each with its position and the line feed at its end."""
    system, at = located(path)
    with system.open_input_file(at) as file:
        # A line that began before belongs to the split before.
        offset, held, block = max(start - 1, 0), b"", True
        file.seek(offset)
        while offset < end and block:
            if len(held) >= MOST:
                raise ValueError(f"{path}: byte {offset} is in a line of 2 GiB or more, which no column takes")
            block = file.read(min(max(BLOCK, len(held)), MOST - len(held)))
            held += block
            last = held.rfind(b"\n") + 1 if block else len(held)
            bounds = np.append(0, np.flatnonzero(np.frombuffer(held, np.uint8) == 10) + 1)
            bounds = bounds if last == bounds[-1] else np.append(bounds, last)  # The last line of a file may have no end.
            own = bounds[np.searchsorted(bounds[:-1], start - offset) : np.searchsorted(bounds[:-1], end - offset) + 1]
            if len(own) > 1:
                lines = pa.Array.from_buffers(pa.binary(), len(own) - 1, [None, pa.py_buffer(own.astype(np.int32)), pa.py_buffer(held)])
                yield pa.record_batch([pa.array(base | (own[:-1] + offset)), lines], names=["pos", "line"])
            offset, held = offset + last, held[last:]


def parquet(spark, paths, text="text", id=None, key=None, side=0):
    """Parquet with all its columns: `pos` is the number of the file << 40 | the number of the row."""
    frame = spark.read.parquet(*paths)
    paths = sorted(row[0] for row in frame.select("_metadata.file_path").distinct().collect())
    numbers = F.create_map(*[F.lit(cell) for number, path in enumerate(paths) for cell in (path, side | number << 40)])
    return Source(with_columns(frame, numbers[F.col("_metadata.file_path")].cast("long").bitwiseOR(F.col("_metadata.row_index")), text, id, key))


def ordered(frame, by, text="text", id=None, key=None, side=0):
    """Any other frame, by a column of whole numbers that is different in every row."""
    if dict(frame.dtypes).get(by) not in ("bigint", "int", "smallint", "tinyint"):
        raise ValueError(f"--order-by {by}: there must be such a column of whole numbers")
    count, different, least, most = frame.agg(F.count("*"), F.count_distinct(by), F.min(by), F.max(by)).first()
    if count != different or (least or 0) < 0 or (most or 0) >= NEW:
        raise ValueError(f"--order-by {by}: {count} rows have {different} different values from {least} on; each must have one of its own, from 0 to 2^62 - 1")
    return Source(with_columns(frame, F.col(by).cast("long").bitwiseOR(F.lit(side)), text, id, key))


def with_columns(frame, pos, text, id, key):
    """What the stages need, and the columns of the input as one, of which no stage sees anything."""
    kinds = dict(frame.dtypes)
    for name in sorted({text, id, key} - {None, "", *kinds}):
        raise ValueError(f"there is no column {name}: there are {', '.join(kinds)}")
    if kinds[text] != "string":
        raise ValueError(f"column {text} must be a string, got {kinds[text]}")
    own = [pos.alias("pos"), F.col(text).alias("text"), id_json(id or "id", kinds).alias("id"), F.struct(*(F.col(f"`{name}`") for name in kinds)).alias("row")]
    if key and kinds[key] not in ("string", "tinyint", "smallint", "int", "bigint", "float", "double"):
        raise ValueError(f"column {key} must have strings or numbers to be kept by, got {kinds[key]}: cast it")
    if key:
        own.append(F.col(key).cast("double" if kinds[key] == "float" else kinds[key]).cast("string").alias("key" if kinds[key] == "string" else "number"))
    return frame.select(own)


def id_json(name, kinds):
    """The column of ids as JSON, null where there is none: the position is the id then."""
    kind = kinds.get(name)
    if kind is None:
        return F.lit(None).cast("string")
    # Parquet's unsigned numbers of 64 bits are decimals without a fraction.
    if kind in ("tinyint", "smallint", "int", "bigint") or kind.startswith("decimal(") and kind.endswith(",0)"):
        return F.col(name).cast("string")
    if kind != "string":
        raise ValueError(f"column {name} must be a string or a whole number to be an id, got {kind}: cast it, or name another one")
    return F.concat(F.lit('"'), reduce(lambda text, one: F.replace(text, *map(F.lit, one)), ESCAPES.items(), F.col(name)), F.lit('"'))
