"""simhash-spark dedup IN... -o OUT: the duplicates of files or tables, on Spark."""

import argparse
import json
import os
import shutil
import sys

from . import source, worker as pipe
from .chain import dedup
from .clusters import lines


def arguments():
    parser = argparse.ArgumentParser(prog="simhash-spark")
    command = parser.add_subparsers(required=True, metavar="dedup").add_parser("dedup", help="remove near-duplicates")
    add = command.add_argument
    add("inputs", nargs="+", metavar="IN", help="files or folders of JSON lines or Parquet, or with --order-by what --format reads")
    add("-o", "--output", required=True, metavar="OUT", help="folder for records, clusters and rejects; must not be there")
    add("--format", help="jsonl, parquet, or any format of spark.read. Default: parquet where a name ends so, else jsonl")
    add("--order-by", metavar="COLUMN", help="the order of documents, where the format has none of its own: whole numbers, each once")
    add("--text-field", default="text"), add("--id-field", default="id")
    add("--method", help="minhash (default) or exact"), add("--bands", type=int), add("--rows", type=int)
    add("--cluster", help="representative (default) or components")
    add("--keep", help="first (default), last, longest, largest, smallest, newest"), add("--keep-by", metavar="FIELD")
    add("--verify", help="auto (default), jaccard, containment, edit, cosine, off"), add("--min-similarity", type=float)
    add("--max-verifications", type=int), add("--max-bucket", type=int)
    add("--parts", type=int, help="parts of each shuffle. Default: twice the cores")
    add("--memory", default="1G", help="most bytes of one worker. Default 1G")
    add("--worker", default=os.environ.get("SIMHASH_WORKER") or shutil.which(pipe.NAME), help="path of simhash-native-worker")
    return parser.parse_args()


def recipe_of(options):
    names = {"method": "method", "bands": "bands", "rows": "rows", "cluster": "cluster", "keep": "keep", "verify": "verify",
             "min_similarity": "minSimilarity", "max_verifications": "maxVerifications", "max_bucket": "maxBucket"}
    given = {name: getattr(options, own) for own, name in names.items()}
    return {name: value for name, value in given.items() if value is not None}


def main():
    options = arguments()
    try:
        if not options.worker:
            raise ValueError(f"{pipe.NAME} was not found: name it with --worker or SIMHASH_WORKER")
        pipe.recipe_words(options.worker, json.dumps(recipe_of(options)))
        return run(options)
    except (ValueError, OSError) as error:
        print(f"simhash-spark: {error}", file=sys.stderr)
        return 2


def run(options):
    from pyspark import StorageLevel, cloudpickle
    from pyspark.sql import SparkSession, functions as F
    from . import chain, clusters

    for module in (source, pipe, chain, clusters):
        cloudpickle.register_pickle_by_value(module)
    key = options.keep_by or ("date" if options.keep == "newest" else None)
    if options.keep in ("largest", "smallest") and not key:
        raise ValueError(f"--keep {options.keep} needs --keep-by FIELD")
    # The text of a plan, which has the plans of all stages before it in it, grows beyond the memory of the driver.
    spark = (
        SparkSession.builder.appName("simhash-spark")
        .config("spark.sql.maxPlanStringLength", "65536")
        .getOrCreate()
    )
    fields = {"text": options.text_field, "id": options.id_field, "key": key}
    kind = options.format or ("parquet" if options.inputs[0].rstrip("/").endswith(".parquet") else "jsonl")
    if os.path.exists(options.output):
        raise ValueError(f"{options.output} is there already: name a new folder")
    if options.order_by:
        frame = source.ordered(spark.read.format(kind).load(options.inputs), options.order_by, **fields)
    elif kind == "parquet":
        frame = source.parquet(spark, options.inputs, **fields)
    elif kind == "jsonl":
        frame = source.json_lines(spark, options.inputs, options.worker, **fields)
    else:
        raise ValueError(f"--format {kind} has no order of its own: name a column of unique whole numbers with --order-by")
    is_lines = kind == "jsonl" and not options.order_by
    if is_lines:
        rejects = frame.where("rejected is not null").select(F.col("rejected").alias("reason"), F.col("line").alias("raw"))
        frame = frame.where("rejected is null").withColumn("document_text", F.col("text")).withColumn("document_id", F.col("id"))
        frame = frame.withColumn("document_key", F.col("key")).withColumn("document_number", F.col("number"))
    known = [name for name in ("text", "key", "number") if f"document_{name}" in frame.columns]
    documents = frame.select("pos", *(F.col(f"document_{name}").alias(name) for name in known))
    result = dedup(spark, documents, recipe_of(options), worker=options.worker, parts=options.parts, memory=options.memory)
    marks = result.marks
    kept = frame.join(marks.select("pos"), "pos", "left_anti").orderBy("pos")
    if is_lines:
        kept.select("line").write.text(f"{options.output}/records")
        rejects.write.json(f"{options.output}/rejects")
    else:
        extra = [name for name in ("pos", "document_text", "document_id", "document_key", "document_number") if name in kept.columns]
        kept.drop(*extra).write.parquet(f"{options.output}/records")
    ids = frame.select("pos", F.col("document_id").alias("id"))
    both = marks.join(ids, "pos").join(ids.select(F.col("pos").alias("original"), F.col("id").alias("original_id")), "original")
    ordered = both.repartitionByRange("original").sortWithinPartitions("original", "pos")
    ordered.mapInArrow(lines, "value string").write.text(f"{options.output}/clusters")
    counts = result.counts
    counts["kept"] = counts.get("documents", 0) - counts["duplicates"]
    if "shuffledBytes" in counts and counts.get("documents"):
        counts["shuffledBytesPerDocument"] = round(counts["shuffledBytes"] / counts["documents"], 1)
    print(json.dumps({**counts, "seconds": result.seconds}))
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
