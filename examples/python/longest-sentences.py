# Texts that share one of their five longest sentences; a LevelDB holds sentence -> document. longest-sentences.py IN FOLDER
import hashlib, json, re, sys
import plyvel

def longest(text, n=5):
    sentences = {part.strip() for part in re.split(r"[。！？；\n]", text)} - {""}
    for sentence in sorted(sentences, key=lambda s: (-len(s), s))[:n]:
        yield hashlib.md5(sentence.encode()).digest()[:8]

db = plyvel.DB(sys.argv[2], create_if_missing=True)
for line in open(sys.argv[1], encoding="utf8"):
    doc = json.loads(line)
    keys = list(longest(doc["text"]))
    near = next((old for key in keys if (old := db.get(key))), None)
    if near:
        print(doc["id"], near.decode())
    else:
        for key in keys:
            db.put(key, doc["id"].encode())
