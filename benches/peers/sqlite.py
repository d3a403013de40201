"""Check-and-add of fingerprints within distance 3 in SQLite, as one would write it: a table for each of four blocks of 16 bits.

Two fingerprints within distance 3 have one of four blocks in common. Prints JSON: seconds, processor seconds, kept, bytes.
"""
import json
import os
import random
import sqlite3
import sys
import time

path, count, batch = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
database = sqlite3.connect(path, isolation_level=None)
database.execute("PRAGMA journal_mode = WAL")
database.execute("PRAGMA synchronous = FULL")
for block in range(4):
    database.execute(
        f"CREATE TABLE block{block} (bits INTEGER, fingerprint BLOB, PRIMARY KEY (bits, fingerprint)) WITHOUT ROWID"
    )
find = " UNION ALL ".join(f"SELECT fingerprint FROM block{block} WHERE bits = ?" for block in range(4))
draw = random.Random(3)
kept = 0
begin, processor = time.perf_counter(), time.process_time()
for start in range(0, count, batch):
    database.execute("BEGIN")
    for _ in range(min(batch, count - start)):
        fingerprint = draw.getrandbits(64)
        blocks = [fingerprint >> 16 * block & 0xFFFF for block in range(4)]
        near = (int.from_bytes(row[0], "little") for row in database.execute(find, blocks))
        if any((fingerprint ^ other).bit_count() <= 3 for other in near):
            continue
        kept += 1
        stored = fingerprint.to_bytes(8, "little")
        for block in range(4):
            database.execute(f"INSERT OR IGNORE INTO block{block} VALUES (?, ?)", (blocks[block], stored))
    database.execute("COMMIT")
seconds, processor = time.perf_counter() - begin, time.process_time() - processor
database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
database.close()
print(json.dumps({"seconds": seconds, "processor": processor, "kept": kept, "bytes": os.path.getsize(path)}))
