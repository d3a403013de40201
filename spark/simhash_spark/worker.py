"""A stage of the worker as a function of Arrow batches, for mapInArrow."""

import os
import subprocess
import tempfile
import threading

import pyarrow as pa

NAME = "simhash-native-worker"
ROWS = "kind string, part int, pos long, original long, similarity double, blob binary"


def recipe_words(worker, recipe):
    """The recipe with every default spelled out; a ValueError with the worker's words where it is refused."""
    ended = subprocess.run([worker, "recipe", "--recipe", recipe], capture_output=True, text=True)
    if ended.returncode:
        raise ValueError(ended.stderr.strip())
    return ended.stdout.strip()


def stage(worker, name, options, words=None, beside=()):
    """The stage of a worker, whose file Spark has sent to the executors, over the batches of a partition, after those that all partitions are given."""
    program = os.path.basename(worker)
    metadata = {"simhash.recipe": words} if words else None

    def run(batches):
        from pyspark import SparkFiles

        first = next(batches, None)
        while first is not None and not first.num_rows:
            first = next(batches, None)
        if first is None:
            return
        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(
                [os.path.join(SparkFiles.getRootDirectory(), program), name, *options],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
            failed = []

            def feed():
                # The end of the stream is written only where all of it was: a worker refuses one that is cut.
                try:
                    schema = first.schema.with_metadata(metadata)
                    with pa.ipc.new_stream(child.stdin, schema) as out:
                        for batch in (*beside, first):
                            out.write_batch(batch.replace_schema_metadata(metadata).cast(schema))
                        for batch in batches:
                            out.write_batch(batch.replace_schema_metadata(metadata))
                except BrokenPipeError:
                    pass  # The worker ended, and has said why.
                except BaseException as error:
                    failed.append(error)
                    child.kill()
                finally:
                    try:
                        child.stdin.close()
                    except OSError:
                        pass

            feeder = threading.Thread(target=feed, daemon=True)
            feeder.start()
            try:
                try:
                    for batch in pa.ipc.open_stream(child.stdout):
                        yield batch.replace_schema_metadata(None)
                except (pa.ArrowInvalid, OSError):
                    if child.wait() == 0:
                        raise
                feeder.join()
                if failed:
                    raise failed[0]
                if child.wait():
                    errors.seek(0)
                    raise RuntimeError(errors.read().decode(errors="replace").strip() or f"{name} ended with {child.returncode}")
            finally:
                child.kill()
                child.wait()

    return run
