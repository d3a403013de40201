"""Texts that are asked for: many positions in one cell, and many texts in one, so that neither takes a row of its own in Java. The worker's
module `blob` says how they are packed."""

import numpy as np
import pyarrow as pa

from . import worker as pipe


def wanted(rows):
    """Rows of kind `want` as positions and parts."""
    cells = [np.frombuffer(cell.as_buffer(), np.int64)[1:] for cell in rows.column("blob")]
    parts = np.repeat(rows.column("part").to_numpy(), [len(cell) for cell in cells])
    return pa.record_batch([pa.array(np.concatenate([np.zeros(0, np.int64), *cells])), pa.array(parts)], ["pos", "part"])


def among(few, inside=True):
    """Keeps the documents at positions that were sent, or all others."""

    def keep(batch):
        pos, known = batch.column("pos").to_numpy(), few.value[0]
        at = np.searchsorted(known, pos).clip(max=max(len(known) - 1, 0))
        found = known[at] == pos if len(known) else np.zeros(len(pos), bool)
        return batch.filter(pa.array(found == inside))

    return keep


def repeated(wanted, batch):
    """Part, position and text of documents, once for each part that asks for them: by positions, ascending, and parts."""
    (positions, parts), pos = wanted, batch.column("pos").to_numpy()
    first, end = (np.searchsorted(positions, pos, side) for side in ("left", "right"))
    rows = np.repeat(np.arange(len(pos)), end - first)
    # From the first that is wanted of each on.
    at = np.arange(len(rows)) + np.repeat(end - np.cumsum(end - first), end - first)
    return parts[at], pos[rows], batch.column("text").take(pa.array(rows))


def packed(recipe, parts, positions, texts):
    """Rows of kind `text`, one for each part; `recipe` is the number of the recipe, with which every cell begins."""
    parts, positions = np.asarray(parts), np.asarray(positions)
    order = np.argsort(parts, kind="stable")
    parts, positions, texts = parts[order], positions[order], texts.take(pa.array(order)).cast(pa.large_binary())
    _, ends, data = texts.buffers()
    ends, data = np.frombuffer(ends, np.int64, len(texts) + 1), memoryview(data or b"")
    bounds = np.unique(np.concatenate(([0], np.flatnonzero(np.diff(parts)) + 1, [len(parts)])))

    def cell(start, end):
        own = ends[start : end + 1]
        numbers = (np.int64(end - start), positions[start:end], (own - own[0]).astype(np.uint32))
        return b"".join([recipe, *(one.tobytes() for one in numbers), data[own[0] : own[-1]]])

    cells = pa.array(map(cell, bounds[:-1], bounds[1:]), pa.binary())
    rows = {"kind": pa.array(["text"] * len(cells), pa.string()), "part": pa.array(parts[bounds[:-1]], pa.int32()), "blob": cells}
    names = [one.split()[0] for one in pipe.ROWS.split(", ")]
    nulls = {name: pa.nulls(len(cells), pa.float64() if name == "similarity" else pa.int64()) for name in names}
    return pa.record_batch([{**nulls, **rows}[name] for name in names], names)
