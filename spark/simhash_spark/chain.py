"""The stages put together: Spark brings equal parts together, the worker does the rest."""

import json
import time
from functools import reduce

from pyspark import StorageLevel, cloudpickle
from pyspark.sql import DataFrame, functions as F

from . import source, texts, worker as pipe

for module in (source, texts, pipe):
    cloudpickle.register_pickle_by_value(module)

TOGETHER = 2_000_000  # Edges and copies that one task decides.
TURNS = 20  # Of stars, or of rounds, before one task does what is left.
OPEN = "open", "best", "past", "wait", "fate", "copy"  # What goes from round to round; copies, to the first.


def dedup(spark, documents, recipe=None, *, worker, parts=None, memory="1G"):
    """The duplicates among `documents`: a frame with `pos` (unique, 0 to 2^62 - 1, the order of the input), `text` and, where the keep
    rule compares a field, `key`, its text, and `number`, its number as JSON writes it, both strings. It is read several times, and must
    be the same each time. `recipe`: the options that decide, as a dict. The result is a frame of `pos` of each duplicate, `original`,
    `similarity` and in the byte `blob` the distance."""
    chain = Chain(spark, [source.Source(documents)], recipe, worker, parts, memory)
    try:
        return chain.dedup()
    except BaseException:
        chain.release()
        raise


class Chain:
    def __init__(self, spark, sources, recipe, worker, parts=None, memory="1G"):
        self.spark, self.sources, self.worker, self.connects = spark, sources, worker, (recipe or {}).get("cluster") == "components"
        recipe = json.dumps(recipe or {})
        self.parts = parts or max(spark.sparkContext.defaultParallelism * 2, sum(one.frame.rdd.getNumPartitions() for one in sources))
        self.options = ["--recipe", recipe, "--parts", str(self.parts), "--memory", str(memory)]
        self.words = pipe.recipe_words(worker, self.options)
        spark.sparkContext.addFile(worker)
        self.counts, self.stages, self.held, self.sent, self.figures = {}, {}, [], [], {}
        self.spent = spark.sparkContext.accumulator(0.0)
        for one in sources:
            one.spent, one.sent = self.spent, self.sent
        self.before = self.totals()

    def function(self, name, fields=(), beside=()):
        return pipe.stage(self.worker, name, [*self.options, *fields], self.words, beside)

    def mapped(self, rows, name, schema=pipe.ROWS, beside=()):
        return rows.mapInArrow(pipe.counted(self.function(name, beside=beside), self.spent), schema)

    def every(self, make):
        return reduce(DataFrame.unionByName, map(make, self.sources))

    def done(self, name, frame):
        """Runs a stage; its rows are kept on disk."""
        out = self.kept(frame)
        for row in pick(out, "count").select("blob", "pos").collect():
            count = bytes(row.blob).decode()
            self.counts[count] = self.counts.get(count, 0) + row.pos
        return self.tell(name, out)

    def spread(self, name, rows):
        """Runs a stage whose rows the next one reads, and no other: they stay in the files of the shuffle that sends them to their parts.
        (Adaptive execution runs it here; without, it runs with the next one, to which its figures then count.)"""
        return self.tell(name, self.leaf(rows.repartition(self.parts, "part")))

    def kept(self, frame):
        """The rows of a frame, which stay on disk until they are released."""
        self.held.append(self.leaf(frame).persist(StorageLevel.DISK_ONLY))
        return self.held[-1]

    def release(self, but=None, first=0):
        """Frees the disks and memory of executors of what is held, from a place on, one frame excepted."""
        for one in [one for one in [*self.held[first:], *self.sent] if one is not but]:
            one.unpersist()
        self.held[first:] = [one for one in self.held[first:] if one is but]

    def leaf(self, frame):
        """The rows of a frame without its plan, in which those of all stages before it would be, and again in each of them: what
        Dataset.checkpoint does, but that rows which are lost are made again."""
        return DataFrame(self.spark._jsparkSession.internalCreateDataFrame(frame._jdf.queryExecution().toRdd(), frame._jdf.schema(), False), self.spark)

    def tell(self, name, rows=None):
        """Adds what was taken since the last stage ended to this one, and hands on its rows."""
        now = self.totals()
        own = self.stages.setdefault(name, dict.fromkeys(now, 0))
        own.update({figure: round(own[figure] + now[figure] - self.before[figure], 3) for figure in now})
        self.before = now
        return rows

    def totals(self):
        """Seconds, processor seconds of tasks and workers, and bytes shuffled, so far, from where Spark's own page has them."""
        context = self.spark.sparkContext
        none = context._gateway.new_array(context._jvm.double, 0), context._jvm.java.util.ArrayList()
        stages = context._jsc.sc().statusStore().stageList(None, False, False, *none)
        for one in map(stages.apply, range(stages.size())):  # Of those that Spark drops later the last figures stay.
            self.figures[one.stageId(), one.attemptId()] = one.executorCpuTime() / 1e9, one.shuffleWriteBytes()
        cpu, shuffled = map(sum, zip(*self.figures.values(), (0, 0)))
        return {"seconds": time.monotonic(), "cpuSeconds": self.spent.value + cpu, "shuffledBytes": shuffled}

    def stage(self, name, rows, beside=(), parts=None):
        return self.done(name, self.mapped(rows.repartition(parts or self.parts, "part"), name, beside=beside))

    def texts(self, rows):
        """The texts that are asked for, in every part that asks for them."""
        return self.every(lambda one: one.asked(pick(rows, "want"), self.function))

    def buckets(self, name, shared, beside):
        return self.spread("texts", self.mapped(self.spread(name, shared.unionByName(beside)), "texts"))

    def links(self):
        """Copies, and documents that match: what decisions rest on."""
        sketched = self.done("sketch", self.every(lambda one: one.map(
            self.function("sketch", one.fields), ["pos", "text", "key", "number"], pipe.ROWS, rejected=True, parsed=False)))
        keys = pick(sketched, "key")
        copies = pick(self.stage("exact", pick(sketched, "exact")), "copy")
        buckets = self.buckets("bands", self.mapped(keys.repartition(self.parts, "part"), "bands"), copies.unionByName(pick(sketched, "outline")))
        seen = self.done("pairs", self.mapped(buckets, "pairs"))
        state, sights = pick(seen, "full"), pick(seen, "sight")
        again = crowded = not state.isEmpty()
        while again:
            self.counts["rounds"] = self.counts.get("rounds", 0) + 1
            answer = self.stage("crowd", state, parts=1)
            asks = collected(pick(answer, "ask"))
            again = asks or not pick(answer, "want").isEmpty()
            state = state.unionByName(self.kept(self.texts(answer))).unionByName(pick(answer, "want"))
            if asks:
                found = pick(self.done("asked", self.mapped(keys, "asked", beside=asks)), "shared")
                state = state.unionByName(self.buckets("asked", found, copies)).unionByName(pick(answer, "ask"))
        lists = self.stage("lists", sights.unionByName(pick(answer, "sight", "unseen")) if crowded else sights)
        compared = self.stage("verify", pick(lists, "list").unionByName(self.texts(lists)))
        return copies.unionByName(pick(compared, "link")).unionByName(pick(lists, "cut"))

    def dedup(self):
        """A row for each duplicate."""
        links, count = self.links(), self.counts.get
        few = count("edges", 0) + count("documents", 0) - count("texts", 0) <= TOGETHER
        decided = self.stage("decide", links if few else self.apart(links), parts=1 if few else None)
        related = self.stage("relate", pick(decided, "pair").unionByName(self.texts(decided)))
        marks = pick(decided, "mark").unionByName(pick(related, "mark"))
        # A part does not know whose duplicates are in others.
        few or self.counts.update(clusters=marks.select("original").distinct().count())
        return self.settled(marks)

    def apart(self, links):
        """Links and copies so that each part decides by itself, after turns until nothing moves: those of a component together, found by
        large-star and small-star, or what rounds of the first independent set leave of them. The last turn is a single task."""
        begin, names, kinds = ("stars", ["large", "small"], ["edge"]) if self.connects else ("waits", ["round"], OPEN)
        rows, own = self.done(begin, self.mapped(links, begin)), len(self.held) - 1
        for self.counts["turns"], parts in enumerate([None] * TURNS + [1], 1):
            for name in names if parts is None else ["stars" if self.connects else "round"]:
                rows = self.stage(name, pick(rows, *kinds), parts=parts)
            self.connects and self.release(self.held[-1], own)  # The turn before, and half of this one.
            if not self.counts.pop("moved", 0):
                break
        # Of what is still open there is nothing, or the stage that decides refuses it.
        settled = [pick(rows, *OPEN[:4]), *(pick(one, "link", "copy") for one in self.held[own:])]
        return self.stage("group", links.unionByName(pick(rows, "edge"))) if self.connects else reduce(DataFrame.unionByName, settled)

    def matches(self):
        """A row for each match of a new document, and one for each of which a limit left something out."""
        return self.settled(pick(self.stage("matches", self.links(), parts=1), "match"))

    def settled(self, rows):
        rows = self.kept(rows.select("pos", "part", "original", "similarity", "blob"))
        rows.count()
        self.release(but=rows)
        return self.tell("settle", rows)


def pick(rows, *kinds):
    return rows.where(F.col("kind").isin(*kinds))


def collected(rows):
    """Rows for every partition, as Arrow batches."""
    return tuple(batch for batch in rows.toArrow().to_batches() if batch.num_rows)
