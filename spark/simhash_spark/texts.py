"""Texts that are asked for: many positions in one cell, of which none has a row of its own in Java. The worker's module `blob` says how
they are packed."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SLICE = 256 << 20  # Bytes of texts of a batch, about: many parts may ask for the same ones.


def wanted(rows):
    """Rows of kind `want` as positions and parts, each once."""
    cells = [np.frombuffer(cell.as_buffer(), np.int64)[1:] for cell in rows.column("blob")]
    parts = np.repeat(rows.column("part").to_numpy(), [len(cell) for cell in cells])
    # Several tasks may ask for a text in the same part.
    return pa.table([pa.array(np.concatenate([np.zeros(0, np.int64), *cells])), pa.array(parts)], ["pos", "part"]).group_by(["pos", "part"]).aggregate([])


def among(few, inside=True):
    """Keeps the documents at positions that were sent, or all others."""

    def keep(batch):
        pos, known = batch.column("pos").to_numpy(), few.value[0]
        return batch.filter(pa.array((known[np.searchsorted(known, pos)] == pos) == inside))

    return keep


def together(batches):
    """Lines as they are written, those of a batch in one cell: a row of Java takes longer than a line."""
    for batch in filter(len, batches):
        lines = pa.ListArray.from_arrays([0, len(batch)], batch.column("line"))
        yield pa.record_batch([batch.column("pos")[:1], pc.binary_join(lines, "\n")], ["pos", "line"])


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
            bytes = np.cumsum(pc.binary_length(batch.column(1)).to_numpy().astype(np.int64)[rows])
            for row, part in np.split(np.stack([rows, parts[at]]), np.flatnonzero(np.diff(bytes // SLICE)) + 1, axis=1):
                yield pa.record_batch([*batch.take(pa.array(row)).columns, pa.array(part.astype(np.int32))], [*batch.schema.names, "part"])

    return run
