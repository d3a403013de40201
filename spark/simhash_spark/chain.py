"""The stages put together: Spark brings equal parts together, the worker does the rest."""

import json
import time
import urllib.request
from dataclasses import dataclass, field

from pyspark import StorageLevel
from pyspark.sql import functions as F

from . import worker as pipe


@dataclass
class Result:
    """`marks`: pos of each duplicate, original, similarity. `counts` and `seconds` by name and stage."""

    marks: object
    counts: dict = field(default_factory=dict)
    seconds: dict = field(default_factory=dict)


def dedup(spark, documents, recipe=None, *, worker, parts=None, memory="1G"):
    """The duplicates among `documents`: a frame with `pos` (unique, 0 to 2^63 - 1, the order of the input), `text` and, where the keep
    rule compares a field, `key`, its text, and `number`, its number as JSON writes it, both strings. It is read several times, and must be the same each time. `recipe`: the options that decide, as a dict."""
    recipe = json.dumps(recipe or {})
    words = pipe.recipe_words(worker, recipe)
    spark.sparkContext.addFile(worker)
    parts = parts or max(spark.sparkContext.defaultParallelism * 2, 2)
    return _Chain(spark, documents, worker, recipe, words, parts, memory).settle()


class _Chain:
    def __init__(self, spark, documents, worker, recipe, words, parts, memory):
        self.worker = worker
        self.spark, self.words, self.parts = spark, words, parts
        columns = [name for name in ("pos", "text", "key", "number") if name in documents.columns]
        self.documents = documents.select(*columns)
        self.options = ["--recipe", recipe, "--parts", str(parts), "--memory", memory]
        self.result = Result(None)
        self.held = []

    def run(self, name, rows, beside=()):
        """A stage over rows that have come together; its rows are kept on disk."""
        began = time.monotonic()
        out = rows.mapInArrow(pipe.stage(self.worker, name, self.options, self.words, beside), pipe.ROWS)
        out = out.persist(StorageLevel.DISK_ONLY)
        self.held.append(out)
        for row in out.where("kind = 'count'").select("blob", "pos").collect():
            count = bytes(row.blob).decode()
            self.result.counts[count] = self.result.counts.get(count, 0) + row.pos
        seconds = self.result.seconds
        seconds[name] = round(seconds.get(name, 0) + time.monotonic() - began, 3)
        return out

    def stage(self, name, rows, beside=()):
        return self.run(name, rows.repartition(self.parts, "part"), beside)

    def one(self, name, rows):
        return self.run(name, rows.repartition(1))

    def texts(self, rows):
        """The texts that are asked for; Spark chooses how to find them."""
        wanted = pick(rows, "want").select("pos", "part")
        return self.documents.select("pos", "text").join(wanted, "pos").select(
            F.lit("text").alias("kind"), "part", "pos", F.lit(None).cast("long").alias("original"),
            F.lit(None).cast("double").alias("similarity"), F.col("text").cast("binary").alias("blob"))

    def settle(self):
        sketched = self.run("sketch", self.documents)
        keys = pick(sketched, "key")
        copies = pick(self.stage("exact", pick(sketched, "exact")), "copy")

        def buckets_of(name="bands", beside=()):
            shared = pick(self.stage(name, keys, beside), "shared")
            return pick(self.stage("texts", shared.unionByName(copies)), "bucket")

        buckets = buckets_of()
        seen = self.stage("pairs", buckets)
        full = pick(seen, "full")
        sights = pick(seen, "sight")
        if not full.isEmpty():
            state, again = full, True
            while again:
                self.result.counts["rounds"] = self.result.counts.get("rounds", 0) + 1
                answer = self.one("crowd", state)
                asks = pick(answer, "ask")
                asked = not asks.isEmpty()
                again = asked or not pick(answer, "want").isEmpty()
                state = state.unionByName(self.texts(answer))
                if asked:
                    state = state.unionByName(buckets_of("asked", collected(asks))).unionByName(asks)
            taken = collected(pick(answer, "taken"))
            if taken:
                sights = pick(self.stage("pairs", buckets, taken), "sight")
            sights = sights.unionByName(pick(answer, "sight"))
        lists = self.stage("lists", sights)
        links = self.stage("verify", pick(lists, "list").unionByName(self.texts(lists)))
        decided = self.one("decide", pick(links, "link").unionByName(copies))
        related = self.stage("relate", pick(decided, "pair").unionByName(self.texts(decided)))
        marks = pick(decided, "mark").unionByName(pick(related, "mark"))
        self.result.marks = marks.select("pos", "original", "similarity").persist(StorageLevel.DISK_ONLY)
        self.result.counts.setdefault("duplicates", 0)
        self.result.marks.count()
        for frame in self.held:
            frame.unpersist()
        shuffled = shuffled_bytes(self.spark)
        if shuffled is not None:
            self.result.counts["shuffledBytes"] = shuffled
        return self.result


def pick(rows, kind):
    return rows.where(F.col("kind") == kind)


def collected(rows):
    """Rows for every partition, as Arrow batches."""
    return tuple(batch for batch in rows.toArrow().to_batches() if batch.num_rows)


def shuffled_bytes(spark):
    """Bytes that all stages of the application have written to shuffles; None where its page is switched off."""
    context = spark.sparkContext
    if not context.uiWebUrl:
        return None
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    try:
        # The page is on this machine: no proxy knows it.
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(url, timeout=30) as answer:
            return sum(stage["shuffleWriteBytes"] for stage in json.load(answer))
    except OSError:
        return None
