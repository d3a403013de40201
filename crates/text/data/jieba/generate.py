"""Packs the dictionary, idf table and HMM of Python jieba 0.42.1 into words.bin and hmm.bin.

    pip download jieba==0.42.1 --no-binary :all: --no-deps -d DIR && tar xzf DIR/jieba-0.42.1.tar.gz -C DIR
    python3 crates/text/data/jieba/generate.py DIR/jieba-0.42.1/jieba crates/text/data/jieba

The output depends on nothing else and is byte-identical on every run. build.rs turns it into the tables that the
segmenter reads. Only words made of the characters that jieba segments (U+4E00 to U+9FD5, ASCII letters and digits, and
+#&._%-) are kept: no other word can ever match. Their frequencies still count in the total.

words.bin, little-endian:
    u32 number of characters, of frequencies, of idf values, of words
    u64 total frequency, f64 ln(total), f64 median idf
    u16 x characters      in code order, the most frequent first; the code is the index + 1
    (u32 f, f64 ln f) x frequencies   distinct values, the most common first; 0 is not among them
    f64 x idf values      distinct values, the most common first
    words, sorted by code: u8 (shared prefix << 4 | added characters - 1), u16 x added codes,
        varint frequency (index + 1; 0: not in the dictionary), varint idf (index + 1; 0: none)
hmm.bin, little-endian: for each character with an emission, ascending:
    u16 character, u8 mask (1 B, 2 E, 4 M, 8 S), f64 x states present in that order

ln is taken here, once, because the last bit of a logarithm depends on the C library.
"""
import collections
import math
import re
import struct
import sys

source, target = sys.argv[1:]
HAN = re.compile("[\u4E00-\u9FD5a-zA-Z0-9+#&._%\\-]+")


def table(counter):
    """Distinct values, the most common first; ties by value."""
    return [value for value, _ in sorted(counter.items(), key=lambda item: (-item[1], item[0]))]


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


frequency, total = {}, 0
with open(f"{source}/dict.txt", encoding="utf-8") as lines:
    for line in lines:
        word, f = line.strip().split(" ")[:2]
        frequency[word] = int(f)
        total += int(f)
assert (len(frequency), total) == (349045, 60101967)

idf = {}
with open(f"{source}/analyse/idf.txt", encoding="utf-8") as lines:
    for line in lines:
        word, value = line.strip().split(" ")
        idf[word] = float(value)
median = sorted(idf.values())[len(idf) // 2]
assert (len(idf), repr(median)) == (270132, "11.9547675029")

words = [word for word in frequency.keys() | idf.keys() if HAN.fullmatch(word)]
assert max(map(len, words)) <= 16

usage = collections.Counter()
for word in words:
    for c in word:
        usage[c] += frequency.get(word, 0)
code = {c: index for index, c in enumerate(table(usage), 1)}
frequencies = table(collections.Counter(frequency[word] for word in words if word in frequency))
idfs = table(collections.Counter(idf[word] for word in words if word in idf))
frequency_index = {value: index for index, value in enumerate(frequencies, 1)}
idf_index = {value: index for index, value in enumerate(idfs, 1)}
assert min(frequencies) > 0

with open(f"{target}/words.bin", "wb") as out:
    out.write(struct.pack("<4I", len(code), len(frequencies), len(idfs), len(words)))
    out.write(struct.pack("<Qdd", total, math.log(total), median))
    out.write(struct.pack(f"<{len(code)}H", *map(ord, code)))
    for f in frequencies:
        out.write(struct.pack("<Id", f, math.log(f)))
    out.write(struct.pack(f"<{len(idfs)}d", *idfs))
    previous = ()
    for codes, word in sorted((tuple(code[c] for c in word), word) for word in words):
        shared = 0
        while shared < min(len(previous), len(codes)) and previous[shared] == codes[shared]:
            shared += 1
        added = codes[shared:]
        out.write(struct.pack(f"<B{len(added)}H", shared << 4 | len(added) - 1, *added))
        out.write(varint(frequency_index.get(frequency.get(word), 0)))
        out.write(varint(idf_index.get(idf.get(word), 0)))
        previous = codes

emission = {}
exec(open(f"{source}/finalseg/prob_emit.py", encoding="utf-8").read(), emission)
emission = emission["P"]
with open(f"{target}/hmm.bin", "wb") as out:
    for c in sorted(set().union(*emission.values())):
        if "\u4E00" <= c <= "\u9FD5":
            present = [state for state in "BEMS" if c in emission[state]]
            mask = sum(1 << "BEMS".index(state) for state in present)
            values = [emission[state][c] for state in present]
            out.write(struct.pack(f"<HB{len(values)}d", ord(c), mask, *values))

print(f"{len(words)} words, {len(code)} characters, {len(frequencies)} frequencies, {len(idfs)} idf values")
