"""python pypi.py SETS SECONDS: nanoseconds of processor time per feature of rensa and datasketch, 128 permutations.

process_time counts all threads, so a peer that uses several gains nothing by it: the figures are per core.
"""
import json
import sys
import time
from array import array

import rensa
from datasketch import MinHash

path, seconds = sys.argv[1], float(sys.argv[2])
with open(path, encoding="utf8") as lines:
    sets = [json.loads(line) for line in lines]
features = sum(map(len, sets))
# Hashed beforehand, as rensa itself does it; and the same numbers in one buffer, without an object for each.
hashed = rensa.RMinHash.hash_token_sets(sets)
flat, offsets = array("Q"), array("Q", [0])
for row in hashed:
    flat.extend(row)
    offsets.append(len(flat))


def best(work):
    """The least of several rounds: noise only ever adds."""
    least, begin = float("inf"), time.process_time()
    rounds = 0
    while rounds < 3 or time.process_time() - begin < seconds:
        start = time.process_time()
        work()
        least = min(least, time.process_time() - start)
        rounds += 1
    return least


def few_by_datasketch():
    for tokens in few:
        sketch = MinHash(num_perm=128)
        sketch.update_batch(tokens)


R, C = rensa.RMinHash, rensa.CMinHash
rows = []
for what, work in [
    ("rensa RMinHash, strings", lambda: R.from_token_sets(sets, num_perm=128, seed=42)),
    ("rensa RMinHash, hashed", lambda: R.digest_matrix_from_flat_token_hashes(flat, offsets, 128, 42)),
    ("rensa CMinHash, strings", lambda: C.from_token_sets(sets, num_perm=128, seed=42)),
    ("rensa CMinHash, hashed", lambda: C.digests64_from_token_hash_sets(hashed, 128, 42)),
]:
    rows.append({"what": what, "nanoseconds": best(work) * 1e9 / features, "documents": len(sets)})

few = [[token.encode() for token in tokens] for tokens in sets[:50]]
spent = best(few_by_datasketch)
count = sum(map(len, few))
rows.append({"what": "datasketch, strings", "nanoseconds": spent * 1e9 / count, "documents": len(few)})
print(json.dumps(rows))
