# SimHash of jieba's keywords; MongoDB holds a map from four blocks of 16 bits. MONGODB_URI=… tfidf-mongodb.py IN
import hashlib, json, os, sys
import jieba.analyse
from pymongo import MongoClient

def simhash(text):
    bits = [0.0] * 64
    for word, weight in jieba.analyse.extract_tags(text, topK=20, withWeight=True):
        digest = int.from_bytes(hashlib.md5(word.encode()).digest()[:8], "big")
        bits = [sum + (weight if digest >> i & 1 else -weight) for i, sum in enumerate(bits)]
    return sum(1 << i for i in range(64) if bits[i] > 0)

seen = MongoClient(os.environ["MONGODB_URI"]).recipe.fingerprints
seen.create_index("blocks")
for line in open(sys.argv[1], encoding="utf8"):
    doc = json.loads(line)
    value = simhash(doc["text"])
    blocks = [f"{i}:{value >> 16 * i & 0xFFFF}" for i in range(4)]
    found = seen.find({"blocks": {"$in": blocks}}).sort("_id", 1)
    near = next((old for old in found if bin(value ^ int(old["value"], 16)).count("1") <= 3), None)
    if near:
        print(doc["id"], near["_id"])
    else:
        seen.insert_one({"_id": doc["id"], "value": f"{value:016x}", "blocks": blocks})
