"""Clusters as JSON lines, byte for byte those of the command line."""

import pyarrow as pa


def number(value):
    """A double with the fewest digits, as docs/specification.md, section 10, has it."""
    digits = repr(value)
    if "e" not in digits:
        return digits
    mantissa, exponent = digits.split("e")
    if int(exponent) == -5:
        return "0.0000" + mantissa.replace(".", "")
    return f"{mantissa}e{int(exponent)}"


def lines(batches):
    """Of rows sorted by original, then pos, with the ids of both: a line for each original."""
    last, line = None, []
    for batch in batches:
        done = []
        for row in batch.to_pylist():
            if row["original"] != last:
                if line:
                    done.append("".join(line) + "]}")
                last, of = row["original"], row["original_id"]
                line = [f'{{"representative":{of},"members":[{{"id":{of}}}']
            similarity = row["similarity"]
            line.append(f',{{"id":{row["id"]}')
            line.append("}" if similarity is None else f',"similarity":{number(similarity)}}}')
        if done:
            yield pa.record_batch([pa.array(done)], names=["value"])
    if line:
        yield pa.record_batch([pa.array(["".join(line) + "]}"])], names=["value"])
