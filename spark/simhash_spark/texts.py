"""Texts that are asked for: many positions in one cell, of which none has a row of its own in Java. The worker's module `blob` says how
they are packed."""

import numpy as np
import pyarrow as pa


def wanted(rows):
    """Rows of kind `want` as positions and parts."""
    cells = [np.frombuffer(cell.as_buffer(), np.int64)[1:] for cell in rows.column("blob")]
    parts = np.repeat(rows.column("part").to_numpy(), [len(cell) for cell in cells])
    return pa.record_batch([pa.array(np.concatenate([np.zeros(0, np.int64), *cells])), pa.array(parts)], ["pos", "part"])


def among(few, inside=True):
    """Keeps the documents at positions that were sent, or all others."""

    def keep(batch):
        pos, known = batch.column("pos").to_numpy(), few.value[0]
        return batch.filter(pa.array((known[np.searchsorted(known, pos)] == pos) == inside))

    return keep


def repeated(few):
    """Documents once for each part that asks for them: by positions that were sent, ascending, and parts."""

    def run(batches):
        positions, parts = few.value
        for batch in batches:
            pos = batch.column("pos").to_numpy()
            first, end = (np.searchsorted(positions, pos, side) for side in ("left", "right"))
            rows = np.repeat(np.arange(len(pos)), end - first)
            # From the first that is wanted of each on.
            at = np.arange(len(rows)) + np.repeat(end - np.cumsum(end - first), end - first)
            yield pa.record_batch([*batch.take(pa.array(rows)).columns, pa.array(parts[at].astype(np.int32))], [*batch.schema.names, "part"])

    return run
