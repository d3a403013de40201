"""From files or tables to a folder of what is kept and what was found."""

import os
import shutil

from pyspark.sql import SparkSession, functions as F

from . import source, texts
from .chain import Chain

IDS = "pos long, id string"


def run(inputs, output, *, worker, recipe=None, against=None, format="jsonl", order_by=None, text_field="text", id_field=None,
        key=None, parts=None, memory="1G"):
    """In the session that there is, or one of its own: writes `records`, `clusters` and `rejects` into a new folder, or with the inputs of `against` the `matches` of all others with
    them, and as `records` those that have none. `id_field` is `id` where it is not named, and then need not be there. `key` is the field
    that a keep rule compares. The result is what was counted, and what every stage took."""
    if "://" not in output and os.path.exists(output):
        raise ValueError(f"{output} is there already: name a new folder")
    worker = shutil.which(worker) or worker
    # The text of a plan, which has the plans of all stages before it in it, grows beyond the memory of the driver.
    mine = SparkSession.getActiveSession() is None
    spark = SparkSession.builder.appName("simhash-spark").config("spark.sql.maxPlanStringLength", "65536").getOrCreate()
    are_lines = format == "jsonl" and not order_by

    def documents(paths, side):
        fields = {"text": text_field, "id": id_field, "key": key, "side": side}
        if are_lines:
            return source.json_lines(spark, paths, worker, **fields)
        if order_by:
            frame = spark.read.format("json" if format == "jsonl" else format).load(paths)
            for path in frame.inputFiles() if format == "jsonl" else ():
                source.check_lines(path)
            return source.ordered(frame, order_by, **fields)
        return source.parquet(spark, paths, **fields)

    chain = None
    try:
        own = documents(inputs, source.NEW if against else 0)
        sources = [own, documents(against, 0)] if against else [own]
        recipe = {**(recipe or {}), **({"against": source.NEW} if against else {})}
        chain = Chain(spark, sources, recipe, worker, parts, memory)
        return written(chain, own, output, are_lines, against)
    finally:
        if chain:
            chain.release()
            for one in chain.sent:
                one.destroy()
        if mine:
            spark.stop()


def written(chain, own, output, are_lines, against):
    """Writes the folder; the result is what was counted."""
    found = chain.matches() if against else chain.dedup()
    ends = found.where("original is not null").select("pos"), found.select(F.col("original").alias("pos")).where("pos is not null")
    # Among duplicates few are there more than once: to find the different ones takes longer.
    gone, others = (one.distinct() for one in ends) if against else ends
    if are_lines:
        own.chosen(gone, ["pos", "line"], "pos long, line string", inside=False, made=texts.together).select("line").write.text(f"{output}/records")
        if chain.counts.get("rejected"):
            reasons = own.map(iter, ["rejected", "line"], "rejected string, line string", rejected=True)
            reasons.where("rejected is not null").toDF("reason", "raw").write.json(f"{output}/rejects")
    else:
        own.frame.where("text is not null").join(gone, "pos", "left_anti").orderBy("pos").select("row.*").write.parquet(f"{output}/records")
    chain.tell("records")

    def named(frame):
        return frame.withColumn("id", F.coalesce("id", F.col("pos").bitwiseAND(F.lit(source.NEW - 1)).cast("string")))

    ids = chain.kept(named(chain.every(lambda one: one.chosen(others.union(gone), ["pos", "id"], IDS))))
    originals = ids.select(F.col("pos").alias("original"), F.col("id").alias("other"))
    stage, name, at, members = ("answers", "matches", "pos", named(own.map(iter, ["pos", "id"], IDS))) if against else (
        "clusters", "clusters", "original", ids)
    both = members.join(found, "pos", "left" if against else "inner").join(originals, "original", "left").withColumn("at", F.col(at))
    lines = both.repartitionByRange(chain.parts, "at").sortWithinPartitions("at", "part", "pos")
    chain.mapped(lines.select("at", "part", "id", "other", "similarity", "blob"), stage, "value string").write.text(f"{output}/{name}")
    chain.tell("lines")
    if not against:
        chain.counts["kept"] = chain.counts.get("documents", 0) - chain.counts.setdefault("duplicates", 0)
    total = {figure: round(sum(one[figure] for one in chain.stages.values()), 3) for figure in chain.before}
    total["shuffledBytesPerDocument"] = round(total["shuffledBytes"] / max(chain.counts.get("documents", 0), 1), 1)
    return {**chain.counts, **total, "stages": chain.stages}
