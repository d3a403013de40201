# SimHash in buckets, bottom-k MinHash and all pairs, side by side. three-ways.py IN
import hashlib, json, sys
from simhash import Simhash, SimhashIndex

def buckets(docs):
    index = SimhashIndex([], k=3)
    for name, grams in docs:
        near = sorted(index.get_near_dups(Simhash(list(grams))))
        index.add(name, Simhash(list(grams))) if not near else print("simhash", name, near[0])

def one_by_one(way, docs, sketch, similarity, kept=()):
    for name, grams in docs:
        mine = sketch(grams)
        near = next((old for old, other in kept if similarity(mine, other) >= 0.8), None)
        kept = (*kept, (name, mine)) if near is None else print(way, name, near) or kept

def bottom_k(grams, k=64):
    return frozenset(sorted(hashlib.md5(gram.encode()).digest()[:8] for gram in grams)[:k])

lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf8")]
docs = [(d["id"], {d["text"][i : i + 2] for i in range(len(d["text"]))}) for d in lines]
buckets(docs)
one_by_one("bottom-k", docs, bottom_k, lambda a, b: len(a & b & set(sorted(a | b)[:64])) / (len(sorted(a | b)[:64]) or 1))
one_by_one("brute-force", docs, set, lambda a, b: len(a & b) / (len(a | b) or 1))
