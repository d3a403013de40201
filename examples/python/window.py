# Near-duplicates of the last two days: SimHash in buckets, edit distance for short texts. window.py IN
import collections, json, sys
from datetime import datetime, timedelta
from rapidfuzz.distance import Levenshtein
from simhash import Simhash

def keys_of(text):
    if len(text) < 32:
        return None, ["short"]
    value = Simhash([text[i : i + 2] for i in range(len(text) - 1)]).value
    return value, [(i, value >> 16 * i & 0xFFFF) for i in range(4)]

window, buckets = collections.deque(), collections.defaultdict(collections.deque)
for doc in map(json.loads, open(sys.argv[1], encoding="utf8")):
    text, now = doc["text"], datetime.fromisoformat(doc["time"])
    while window and window[0][0] < now - timedelta(days=2):
        for key in window.popleft()[1]: buckets[key].popleft()
    value, keys = keys_of(text)
    is_like = lambda other, bits: (value ^ bits).bit_count() <= 3 if value else Levenshtein.normalized_similarity(text, other) >= 0.8
    near = next((name for key in keys for name, other, bits in buckets[key] if is_like(other, bits)), None)
    if near: print(doc["id"], near)
    else: window.append((now, keys))
    for key in [] if near else keys: buckets[key].append((doc["id"], text, value))
