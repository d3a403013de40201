# The documents of IN without near-duplicates, into OUT. minhash-script.py IN OUT
import json, sys
from datasketch import MinHash, MinHashLSH

lsh = MinHashLSH(threshold=0.8, num_perm=128)
with open(sys.argv[1], encoding="utf8") as source, open(sys.argv[2], "w", encoding="utf8") as out:
    for line in source:
        doc = json.loads(line)
        text = doc["text"]
        signature = MinHash(num_perm=128)
        for i in range(len(text) - 2):
            signature.update(text[i : i + 3].encode())
        near = sorted(lsh.query(signature))
        if near:
            print(doc["id"], near[0])
        else:
            lsh.insert(doc["id"], signature)
            out.write(line)
