"""A stage of the worker as a function of Arrow batches, for mapInArrow."""

import gc
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import threading

import pyarrow as pa
from pyspark import SparkFiles

ROWS = "kind string, part int, pos long, original long, similarity double, blob binary"


def recipe_words(worker, options):
    """The recipe of options with every default spelled out; a ValueError with the worker's words where one is refused."""
    ended = subprocess.run([worker, "recipe", *options], capture_output=True, text=True)
    if ended.returncode:
        raise ValueError(ended.stderr.strip())
    return ended.stdout.strip()


def cpu_seconds():
    """Of this process and of the children that have ended."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def counted(function, spent):
    """A function of batches whose processor seconds are added to an accumulator, those of its workers too."""

    def run(batches):
        # Spark collects garbage after each task: modules, which stay, are not gone through again and again. Some come with later tasks.
        getattr(gc, "modules", 0) >= len(sys.modules) or gc.freeze() or setattr(gc, "modules", len(sys.modules))
        began = cpu_seconds()
        yield from function(batches)
        spent.add(cpu_seconds() - began)

    return run


def stage(worker, name, options, words=None, beside=()):
    """The stage of a worker, whose file Spark has sent to the executors, over the batches of a partition, after those that all
    partitions are given."""
    metadata = {"simhash.recipe": words} if words else None

    def run(batches):
        first = next((batch for batch in batches if batch.num_rows), None)
        if first is None:
            return
        schema, failed = first.schema.with_metadata(metadata), []
        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen([SparkFiles.get(os.path.basename(worker)), name, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)

            def feed():
                # The end of the stream is written only where all of it was: a worker refuses one that is cut.
                try:
                    with child.stdin, pa.ipc.new_stream(child.stdin, schema) as out:
                        for batch in itertools.chain(beside, [first], batches):
                            out.write_batch(batch.replace_schema_metadata(metadata).cast(schema))
                except BrokenPipeError:
                    pass  # The worker ended, and has said why.
                except BaseException as error:
                    failed.append(error)
                    child.kill()

            feeder = threading.Thread(target=feed, daemon=True)
            feeder.start()
            try:
                yield from pa.ipc.open_stream(child.stdout)
                feeder.join()
            except (pa.ArrowInvalid, OSError) as error:
                failed.append(error)
            except BaseException:
                child.kill()
                raise
            finally:
                child.stdout.close()
                ended = child.wait()
            errors.seek(0)
            if ended > 0 and (words := errors.read().decode(errors="replace").strip()):
                raise RuntimeError(words)
            if failed or ended:
                raise failed[0] if failed else RuntimeError(f"{name} ended with {ended}")

    return run
