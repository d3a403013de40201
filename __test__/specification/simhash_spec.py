"""A second implementation of docs/specification.md, version 1: short, slow, standard library only.

    python3 simhash_spec.py dedup IN.jsonl [options] > clusters.jsonl
    python3 simhash_spec.py vectors DIR

`dedup` writes the clusters that `simhash-native dedup IN.jsonl --clusters FILE` writes, byte for byte. `vectors` checks the
golden vectors in DIR. The sections are those of the page, from which this program was written. It compares what the page
calls equal with `==` and looks at every pair that the page says is looked at: no index, no early exit, no cache but
`functools`.
"""

import argparse
import functools
import gzip
import json
import math
import pathlib
import re
import sys
import unicodedata
from collections import Counter, defaultdict

U64 = 2**64 - 1
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)


# --- Feature hash: XXH3-64 ------------------------------------------------------------------------------------------

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
PRIME32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
PRIME64 = (
    *(0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9),
    *(0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5),
)


def word(data, at, size=8):
    return int.from_bytes(data[at : at + size], "little")


def swap(x, size):
    return int.from_bytes(x.to_bytes(size, "little"), "big")


def rotate(x, by):
    return (x << by | x >> (64 - by)) & U64


def folded_product(a, b):
    return (a & U64) * (b & U64) & U64 ^ (a & U64) * (b & U64) >> 64


def avalanche(x):
    x = (x ^ x >> 37) * 0x165667919E3779F9 & U64
    return x ^ x >> 32


def avalanche_64(x):
    x = (x ^ x >> 33) * PRIME64[1] & U64
    x = (x ^ x >> 29) * PRIME64[2] & U64
    return x ^ x >> 32


def xxh3(data, seed=0):
    """XXH3-64 as doc/xxhash_spec.md of xxHash 0.8 defines it."""
    n = len(data)
    if n == 0:
        return avalanche_64(seed ^ word(SECRET, 56) ^ word(SECRET, 64))
    if n <= 3:
        key = data[0] << 16 | data[n >> 1] << 24 | data[-1] | n << 8
        return avalanche_64((word(SECRET, 0, 4) ^ word(SECRET, 4, 4)) + seed & U64 ^ key)
    if n <= 8:
        seed ^= swap(seed & 0xFFFFFFFF, 4) << 32
        x = (word(SECRET, 8) ^ word(SECRET, 16)) - seed & U64 ^ (word(data, 0, 4) << 32) + word(data, n - 4, 4)
        x = (x ^ rotate(x, 49) ^ rotate(x, 24)) * 0x9FB21C651E98DF25 & U64
        x = (x ^ (x >> 35) + n) * 0x9FB21C651E98DF25 & U64
        return x ^ x >> 28
    if n <= 16:
        low = (word(SECRET, 24) ^ word(SECRET, 32)) + seed & U64 ^ word(data, 0)
        high = (word(SECRET, 40) ^ word(SECRET, 48)) - seed & U64 ^ word(data, n - 8)
        return avalanche(n + swap(low, 8) + high + folded_product(low, high) & U64)
    if n <= 240:

        def mix(at, secret):
            low = word(data, at) ^ word(SECRET, secret) + seed & U64
            return folded_product(low, word(data, at + 8) ^ word(SECRET, secret + 8) - seed & U64)

        sum = n * PRIME64[0]
        if n <= 128:
            for i in range((n - 1 >> 5) + 1):
                sum += mix(i * 16, i * 32) + mix(n - i * 16 - 16, i * 32 + 16)
            return avalanche(sum & U64)
        sum = avalanche(sum + functools.reduce(lambda total, i: total + mix(i * 16, i * 16), range(8), 0) & U64)
        for i in range(8, n >> 4):
            sum += mix(i * 16, (i - 8) * 16 + 3)
        return avalanche(sum + mix(n - 16, 119) & U64)
    return xxh3_long(data, seed)


def xxh3_long(data, seed):
    halves = [word(SECRET, at) + (-seed if at % 16 else seed) & U64 for at in range(0, 192, 8)]
    secret = b"".join(half.to_bytes(8, "little") for half in halves)
    p32, p64 = PRIME32, PRIME64
    sums = [p32[2], p64[0], p64[1], p64[2], p64[3], p32[1], p64[4], p32[0]]

    def accumulate(at, key):
        for lane in range(8):
            value = word(data, at + lane * 8)
            mixed = value ^ word(secret, key + lane * 8)
            sums[lane ^ 1] = sums[lane ^ 1] + value & U64
            sums[lane] = sums[lane] + (mixed & 0xFFFFFFFF) * (mixed >> 32) & U64

    stripes = (len(data) - 1) // 64
    for stripe in range(stripes):
        accumulate(stripe * 64, stripe % 16 * 8)
        if stripe % 16 == 15:
            for lane in range(8):
                x = sums[lane] ^ sums[lane] >> 47 ^ word(secret, 128 + lane * 8)
                sums[lane] = x * PRIME32[0] & U64
    accumulate(len(data) - 64, 121)
    total = len(data) * PRIME64[0]
    for lane in range(0, 8, 2):
        key = 11 + lane * 8
        total += folded_product(sums[lane] ^ word(secret, key), sums[lane + 1] ^ word(secret, key + 8))
    return avalanche(total & U64)


@functools.lru_cache(None)
def feature_hash(feature):
    return xxh3(feature.encode())


# --- Normalisation --------------------------------------------------------------------------------------------------

SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
CJK = "\u2e80-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff9f\U00020000-\U0003fffd"


def without_layout(text):
    """White space 'auto'."""
    text = re.sub(f"[{SPACE}]+", " ", text).strip(" ")
    return re.sub(f"(?<=[{CJK}]) | (?=[{CJK}])", "", text)


@functools.lru_cache(None)
def normalise(text):
    while True:
        after = without_layout(unicodedata.normalize("NFKC", text).casefold())
        if after == text:
            return text
        text = after


# --- Features -------------------------------------------------------------------------------------------------------


def runs(text, n):
    """Every run of n code points; the whole text where it is shorter."""
    return [text[i : i + n] for i in range(max(len(text) - n, 0) + 1)] if text else []


def runs_by_script(text):
    weights = [5 if c >= "\u3000" or c in "0123456789" else 2 for c in text]
    found, start = [], 0
    for end in range(1, len(text) + 1):
        while sum(weights[start:end]) >= 10:
            found.append((start, end))
            start += 1
    last = found[-1] if found else (0, 0)
    return [text[start:end] for start, end in found + [(last[0], len(text))] * (last[1] < len(text))]


def features(text, ngram):
    """The feature strings of a normalised text, in order, as often as they occur."""
    return runs(text, ngram) if ngram else runs_by_script(text)


@functools.lru_cache(None)
def feature_set(text, ngram):
    return frozenset(map(feature_hash, features(text, ngram)))


@functools.lru_cache(None)
def long_shingles(text, ngram):
    length = sum(c >= "\u3000" for c in text) + 2 * sum(c in "0123456789" for c in text)
    return frozenset(map(feature_hash, runs(text, 5))) if not ngram and length >= 400 else frozenset()


# --- Fingerprint ----------------------------------------------------------------------------------------------------


@functools.lru_cache(None)
def fingerprint(text, ngram):
    counted = Counter(map(feature_hash, features(text, ngram)))
    if len(counted) < max(8, 4 * (ngram or 2)):
        return None
    half = sum(counted.values()) / 2
    bits = (sum(n for h, n in counted.items() if h >> bit & 1) > half for bit in range(64))
    return sum(1 << bit for bit, is_set in enumerate(bits) if is_set)


# --- Signature and bands --------------------------------------------------------------------------------------------

GOLDEN = 0x9E3779B97F4A7C15


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & U64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & U64
    return x ^ x >> 31


SALT = mix(GOLDEN)


@functools.lru_cache(None)
def salt(tile):
    return mix(SALT + tile & U64)


def multiplier(position):
    return (mix(SALT + GOLDEN * (position + 1) & U64) << 10 | position) & 0xFFFFFFFF


@functools.lru_cache(None)
def positions(feature, count):
    return [value(i, mix(feature ^ salt(i // 128))) for i in range(count)]


def value(i, mixed):
    low, high = mixed & 0xFFFFFFFF, mixed >> 32
    if low % 128 == i % 128:
        return high >> 1
    return 2**31 + ((high + multiplier(i) * low & 0xFFFFFFFF) >> 1)


@functools.lru_cache(None)
def signature(feature_hashes, count):
    if not feature_hashes:
        return []
    return [min(values) for values in zip(*(positions(h, count) for h in feature_hashes))]


def default_plan(threshold):
    """Bands and rows."""
    threshold = max(threshold, 0.1)
    for rows in range(128, 0, -1):
        share = 1.0
        for _ in range(rows):
            share *= threshold
        missed = 1.0
        for bands in range(1, 128 // rows + 1):
            missed *= 1.0 - share
            if 1.0 - missed >= 0.9999:
                return bands, rows
    raise ValueError(threshold)


def band_key(values, band, rows, level=0):
    part = (values[(band * rows + i) % len(values)] for i in range(rows + level))
    return xxh3(b"".join(value.to_bytes(4, "little") for value in part), band)


# --- Sentences ------------------------------------------------------------------------------------------------------

ENDS = "。！？；!?;｡"
CLOSING = "[”’\"')\\]}）］】〕』」》〉»]*"
END = re.compile(f"[\n\r\x85\u2028\u2029]|(?P<mark>[{ENDS}.])[{ENDS}.…]*{CLOSING}")
ABBREVIATIONS = "mr mrs ms dr prof st jr sr vs etc inc ltd co corp no fig vol dept gen gov sen rep mt approx".split()
PUNCTUATION = (
    "!\"#%&'()*,\\-./:;<=>?@\\[\\\\\\]^_`{|}~\xa1\xa6-\xa8\xab\xac\xaf\xb4\xb6-\xb8\xbb\xbf\u02d8-\u02df\u2010-\u2027"
    "\u2030-\u205e\u2190-\u21ff\u2212\u2215\u2219\u223c\u2500-\u25ff\u2605\u2606\u2e00-\u2e2e\u2e30-\u2e5d\u3001-\u3003"
    "\u3008-\u3020\u3030\u303d\u30a0\u30fb\ufe10-\ufe19\ufe30-\ufe61\ufe63-\ufe68\ufe6a\ufe6b\uff01-\uff03\uff05-\uff0a"
    "\uff0c-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe3"
)
FILLER = f"[{SPACE}{PUNCTUATION}]"


def ends_sentence(before, after):
    """Whether a full stop between these ends a sentence."""
    if not re.search(f"[^{SPACE}]", after):
        return True
    following = re.match(f"[{SPACE}]+[“‘\"'(\\[]*(.)", after, re.S)
    if not following or not following[1].isupper():
        return False
    word = re.search("[A-Za-z.]{0,12}\\Z", before)[0]
    return not ("." in word or len(word) == 1 and word.isupper() or word.lower() in ABBREVIATIONS)


def sentences(text):
    found, start = [], 0
    for end in END.finditer(text):
        if end["mark"] != "." or ends_sentence(text[start : end.start()], text[end.end() :]):
            found.append(text[start : end.end()])
            start = end.end()
    stripped = (re.sub(f"\\A[{SPACE}]+|[{SPACE}]+\\Z", "", sentence) for sentence in [*found, text[start:]])
    return [sentence for sentence in stripped if sentence]


@functools.lru_cache(None)
def longest_sentences(text, count, least=10):
    """Hash, length and index of the longest sentences."""
    found = []
    for index, sentence in enumerate(sentences(text)):
        sentence = normalise(sentence)
        length = len(re.sub(FILLER, "", sentence))
        core = feature_hash(re.sub(f"\\A{FILLER}+|{FILLER}+\\Z", "", sentence))
        if length >= max(least, 1) and all(core != other[0] for other in found):
            found.append((core, length, index))
    return sorted(found, key=lambda s: (-s[1], s[2]))[:count]


# --- Similarity -----------------------------------------------------------------------------------------------------


def jaccard(a, b):
    shared = len(a & b)
    union = len(a) + len(b) - shared
    return shared / union if union else 0.0


def contained(a, b):
    smaller = min(len(a), len(b))
    return len(a & b) / smaller if smaller else 0.0


def of_both_sets(measure, a, b, options):
    """Of the features; of long texts also of their runs of five, and the lower counts."""
    result = measure(feature_set(a, options.ngram), feature_set(b, options.ngram))
    long_a, long_b = long_shingles(a, options.ngram), long_shingles(b, options.ngram)
    return min(result, measure(long_a, long_b)) if long_a and long_b else result


@functools.lru_cache(None)
def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, c in enumerate(a):
        above, row = row, [i + 1]
        for j, d in enumerate(b):
            row.append(min(above[j] + (c != d), above[j + 1] + 1, row[j] + 1))
    return row[-1]


def edit_similarity(a, b):
    longer = max(len(a), len(b))
    return (longer - levenshtein(a, b)) / longer if longer else 0.0


def cosine(a, b, options):
    x, y = (Counter(map(feature_hash, features(text, options.ngram))) for text in (a, b))

    def dot(x, y):
        return sum(n * y[h] for h, n in x.items())

    lengths = math.sqrt(float(dot(x, x)) * float(dot(y, y)))
    return min(float(dot(x, y)) / lengths, 1.0) if lengths else 0.0


ALMOST_ONE = 1 - 2**-53
SMALL, LARGE = "零〇一二两兩三四五六七八九十", "百千万萬亿億"
UNITS = "年月日季届屆集期章次名岁歲"
NUMBER = re.compile(
    "(?P<fraction>(?<=[0-9][.])[0-9]+)|(?P<digits>[1-9][0-9]{0,2}(?![0-9])(?:,[0-9]{3}(?![0-9]))+|[0-9]+)|[%s%s]+" % (SMALL, LARGE)
)


@functools.lru_cache(None)
def numbers(text):
    """The numbers of a normalised text, in order."""
    found = []
    for match in NUMBER.finditer(text):
        run, before, after = match[0], text[: match.start()], text[match.end() :][:1]
        if match["fraction"]:
            found.append(run)
            continue
        if match["digits"]:
            minus = re.search("(?<![0-9A-Za-z])[-\u2212]\\Z", before)
            found.append(("-" if minus else "") + (run.replace(",", "").lstrip("0") or "0"))
            continue
        small = any(c in SMALL for c in run)
        if re.search("[第0-9]\\Z", before) or small and after and after in UNITS:
            found.append(run)
    return found


def factor(a, b):
    shorter = min(len(a), len(b))
    return 1.0 if numbers(a) == numbers(b) else min(max(shorter - 48, 0) / 48, 1.0)


def similarity(a, b, options):
    """Of two normalised texts, by the measure that `options.verify` names."""
    if options.verify == "edit":
        return edit_similarity(a, b)
    if options.verify == "cosine":
        return cosine(a, b, options)
    if options.verify == "containment":
        return of_both_sets(contained, a, b, options)
    found = of_both_sets(jaccard, a, b, options)
    return found if options.verify == "jaccard" else min(found * factor(a, b), ALMOST_ONE)


# --- Records --------------------------------------------------------------------------------------------------------

JSON = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=lambda name: int(name))


def members_of(raw):
    """The members of a JSON object: the raw text of each value by key; of repeated keys the last counts."""
    if not isinstance(JSON.decode(raw), dict):
        raise ValueError("not an object")
    found, at = {}, raw.index("{")
    while True:
        at = re.compile("[ \t\r\n,{]*").match(raw, at).end()
        if raw[at] == "}":
            return found
        key, at = JSON.raw_decode(raw, at)
        at = re.compile("[ \t\r\n:]*").match(raw, at).end()
        _, end = JSON.raw_decode(raw, at)
        found[key], at = raw[at:end], end


def field(raw, path):
    for key in path.split("."):
        raw = members_of(raw).get(key) if raw is not None and raw.startswith("{") else None
    return raw


def string(raw):
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in json.loads(raw))


def key_of(raw):
    """A sort key of a value: a rank (numbers before texts) and the value; None where it has none."""
    if raw is None or raw[0] in "{[tfn":
        return None
    if raw[0] == '"':
        return 1, string(raw)
    whole = raw.lstrip("-").isdigit()
    return 0, int(raw) if whole and abs(float(raw)) >= 2**53 else float(raw)


def record(line, where, options):
    raw = line.decode().strip(" \t\r")
    members_of(raw)
    text, id = field(raw, options.text_field), field(raw, options.id_field)
    if text is None or text[0] != '"' or id is not None and id[0] in "{[tf":
        raise ValueError("no record")
    key = key_of(field(raw, options.keep_field)) if options.keep_field else None
    return string(text), where if id is None or id == "null" else id, key


def read(names, options):
    """Text, id and key of every document, the number of its input, and the number of rejected records."""
    documents, inputs, rejected = [], [], 0
    for input, name in enumerate(names):
        data = sys.stdin.buffer.read() if name == "-" else pathlib.Path(name).read_bytes()
        data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
            if line.strip(b" \t\r"):
                where = str(number) if len(names) == 1 else json.dumps(f"{name}:{number}", ensure_ascii=False)
                try:
                    documents.append(record(line, where, options))
                    inputs.append(input)
                except (ValueError, IndexError):
                    rejected += 1
    return documents, inputs, rejected


# --- Candidates -----------------------------------------------------------------------------------------------------

def sketch(text, given, options):
    """What a method compares, of a normalised text and the text as given; falsy for a text that is too short for it."""
    if options.method == "simhash":
        return fingerprint(text, options.ngram)
    if options.method == "minhash":
        return signature(feature_set(text, options.ngram), math.prod(options.plan))
    if options.method == "sentences":
        return {hash for hash, _, _ in longest_sentences(given, options.sentences)}
    return feature_set(text, options.ngram)


def by_bands(sketches, bands, rows, most):
    """For each text the earlier texts that it sees in buckets, with their rank, and whether a bucket was full."""
    buckets = defaultdict(list)
    for t, values in enumerate(sketches):
        seen, seen_with_room, full = Counter(), Counter(), False
        for band in range(bands):
            for level in range(min(8, bands * rows - rows) + 1):
                bucket = buckets[band_key(values, band, rows, level) >> 21]
                seen.update(bucket)
                if len(bucket) < (max(1, most // 8) if level else most):
                    seen_with_room.update(bucket)
                    bucket.append(t)
                    break
                full = True
        yield {u: (bands - seen_with_room[u]) * (bands + 1) + bands - a for u, a in seen.items()}, full


def by_sentences(sketches, count, most):
    """For each text the earlier texts that it sees through its sentences, with their rank, and whether one hid any."""
    holders = defaultdict(list)
    for t, keys in enumerate(sketches):
        seen = Counter(u for key in keys for u in holders[key][:most])
        yield {u: count - times for u, times in seen.items()}, any(len(holders[key]) > most for key in keys)
        for key in keys:
            holders[key].append(t)


def compared(sketches, rank):
    """For each text the earlier texts for which `rank` is a number."""
    for t, own in enumerate(sketches):
        ranks = {u: rank(own, sketches[u]) for u in range(t) if own is not None and sketches[u] is not None}
        yield {u: found for u, found in ranks.items() if found is not None}, False


def hamming(a, b):
    return (a ^ b).bit_count()


def near(sketches, options):
    if options.method == "minhash":
        return by_bands(sketches, *options.plan, options.max_bucket)
    if options.method == "sentences":
        return by_sentences(sketches, options.sentences, options.max_bucket)
    if options.method == "simhash":
        return compared(sketches, lambda a, b: d if (d := hamming(a, b)) <= options.max_distance else None)
    if options.method == "brute-force":
        least = max(options.min_similarity, 1e-6)
        return compared(sketches, lambda a, b: int((1.0 - j) * 4294967295.0) if (j := jaccard(a, b)) >= least else None)
    return (({}, False) for _ in sketches)


def candidates(sketches, options):
    """For each text its candidates by rank, and whether a limit took something away."""
    for ranks, hidden in near(sketches, options):
        most = options.max_verifications
        if len(ranks) > most:
            oldest = sorted(ranks)[: most // 4]
            others = sorted(ranks.keys() - oldest, key=lambda u: (ranks[u], u))
            ranks, hidden = {u: ranks[u] for u in oldest + others[: most - most // 4]}, True
        yield ranks, hidden


# --- Clusters -------------------------------------------------------------------------------------------------------


def keep_order(documents, options):
    """All documents, the one to be kept first."""
    order, rule = list(range(len(documents))), options.keep
    if rule == "first":
        return order
    if rule == "last":
        return order[::-1]
    if rule == "longest":
        return sorted(order, key=lambda d: -len(documents[d][0]))
    keys = [key for _, _, key in documents]
    known = [d for d in order if keys[d] is not None]  # both sorts leave ties in input order
    known.sort(key=lambda d: keys[d], reverse=rule != "smallest")
    return known + [d for d in order if keys[d] is None]


def clusters(documents, inputs, options):
    """For each document the kept one that it duplicates, or None; and the numbers of the truncated texts."""
    normal = [normalise(text) for text, _, _ in documents]
    across = options.across_files_only
    sides = inputs if across else [None for _ in inputs]
    order = [d for d in keep_order(documents, options) if normal[d]]
    first = {}
    for d in sorted(order) if options.cluster == "components" else order:
        first.setdefault((normal[d], sides[d]), d)
    texts = list(first)
    number = {text: t for t, text in enumerate(texts)}
    sketches = [sketch(text, documents[first[text, side]][0], options) for text, side in texts]
    neighbours, truncated = [{} for _ in texts], []
    for t, (ranks, cut) in enumerate(candidates(sketches, options)):
        truncated += [t] if cut else []
        for u, rank in ranks.items():
            if not across or texts[t][1] != texts[u][1]:
                neighbours[t][u] = neighbours[u][t] = rank
    equal = defaultdict(list)
    for t, (text, _) in enumerate(texts):
        for u in equal[text]:
            neighbours[t][u] = neighbours[u][t] = 0
        equal[text].append(t)

    @functools.lru_cache(None)
    def match(t, u):
        """Larger is better; None for neighbours that do not match."""
        (one, _), (other, _) = texts[t], texts[u]
        if one == other:
            return math.inf
        if options.verify == "off":
            return -neighbours[t][u]
        found = similarity(one, other, options)
        least = min(options.min_similarity, ALMOST_ONE) if options.verify == "auto" else options.min_similarity
        return found if found >= least else None

    decide = components if options.cluster == "components" else representatives
    text_of = [number.get(text) for text in zip(normal, sides)]
    return normal, decide(order, text_of, neighbours, match, sides, across), truncated


def components(order, text_of, neighbours, match, sides, across):
    root = list(range(len(neighbours)))

    def find(t):
        while root[t] != t:
            t = root[t]
        return t

    for t, near in enumerate(neighbours):
        for u in near:
            if u < t and find(t) != find(u) and match(t, u) is not None:
                a, b = find(t), find(u)
                root[max(a, b)] = min(a, b)
    kept, original = {}, {}
    for d in order:
        of = kept.setdefault(find(text_of[d]), d)
        if of != d and not (across and sides[of] == sides[d]):
            original[d] = of
    return original


def representatives(order, text_of, neighbours, match, _, across):
    kept, original = {}, {}
    for d in order:
        t = text_of[d]
        if t in kept:
            if not across:
                original[d] = kept[t]
            continue
        found = [(match(t, u), -u) for u in neighbours[t] if u in kept and match(t, u) is not None]
        if found:
            original[d] = kept[-max(found)[1]]
        else:
            kept[t] = d
    return original


def related(text, of, options):
    """What a clusters file says of a duplicate and the document that is kept."""
    if text == of:
        return {"similarity": 1.0} | ({"distance": 0} if options.method == "simhash" else {})
    said = {} if options.verify == "off" else {"similarity": similarity(text, of, options)}
    if options.method == "simhash":
        a, b = fingerprint(text, options.ngram), fingerprint(of, options.ngram)
        said |= {} if a is None or b is None else {"distance": hamming(a, b)}
    return said


# --- Clusters file --------------------------------------------------------------------------------------------------


def number_json(value):
    """The shortest digits that give the double again; integers as they are."""
    digits = repr(value)
    if "e" not in digits:
        return digits
    mantissa, exponent = digits.split("e")
    if int(exponent) == -5:
        return "0.0000" + mantissa.replace(".", "")
    return f"{mantissa}e{int(exponent)}"


def clusters_file(documents, normal, original, options):
    members = defaultdict(list)
    for d in sorted(original):
        members[original[d]].append(d)
    for of in sorted(members):
        said = [f'{{"id":{documents[of][1]}}}']
        for d in members[of]:
            parts = [f'"id":{documents[d][1]}']
            for name, value in related(normal[d], normal[of], options).items():
                parts.append(f'"{name}":{number_json(value)}')
            said.append("{" + ",".join(parts) + "}")
        yield f'{{"representative":{documents[of][1]},"members":[{",".join(said)}]}}\n'


# --- Vectors --------------------------------------------------------------------------------------------------------


def vector(name, given):
    """The line of a vector file for what it asks."""
    options = argparse.Namespace(ngram=given.get("ngram"), verify="auto")
    text = normalise(given.get("text", ""))
    if name == "normalise":
        return given | {"normalised": text}
    if name == "features":
        return given | {"features": [list(pair) for pair in Counter(features(text, options.ngram)).most_common()]}
    if name == "feature-hash":
        return given | {"hash": f"{feature_hash(given['text']):016x}"}
    if name == "fingerprint":
        value = fingerprint(text, options.ngram)
        return given | {"fingerprint": None if value is None else f"{value:016x}"}
    if name == "signature":
        return given | {"signature": signature(feature_set(text, None), given["hashes"])}
    if name == "band-keys":
        keys = [band_key(given["signature"], band, given["rows"]) for band in range(given["bands"])]
        return given | {"keys": [f"{key:016x}" for key in keys]}
    if name == "plan":
        return given | dict(zip(("bands", "rows"), default_plan(given["threshold"])))
    if name == "sentences":
        found = longest_sentences(given["text"], 64, 1)
        return given | {"sentences": [[f"{hash:016x}", length, index] for hash, length, index in found]}
    if name == "numbers":
        return given | {"numbers": numbers(text)}
    a, b = normalise(given["a"]), normalise(given["b"])
    return given | {
        "jaccard": of_both_sets(jaccard, a, b, options),
        "containment": of_both_sets(contained, a, b, options),
        "cosine": cosine(a, b, options),
        "levenshtein": levenshtein(a, b),
        "auto": 1.0 if a == b != "" else similarity(a, b, options),
    }


def check_vectors(folder):
    wrong = lines = 0
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").strip("\n").split("\n"), 1):
            expected = json.loads(line)
            found = vector(path.stem, expected)
            lines += 1
            if found != expected:
                wrong += 1
                print(f"{path.name}:{number}: {json.dumps(found, ensure_ascii=False)}, expected {line}")
    print(f"{lines} vectors, {wrong} wrong")
    return 1 if wrong or not lines else 0


# --- Command line ---------------------------------------------------------------------------------------------------


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("vectors").add_argument("folder", type=pathlib.Path)
    dedup = commands.add_parser("dedup")
    dedup.add_argument("inputs", nargs="+", metavar="IN")
    dedup.add_argument("--method", default="minhash", choices="minhash simhash sentences brute-force exact".split())
    dedup.add_argument("--max-distance", type=int)
    dedup.add_argument("--bands", type=int)
    dedup.add_argument("--rows", type=int)
    dedup.add_argument("--sentences", type=int, default=5)
    dedup.add_argument("--cluster", default="representative", choices=["representative", "components"])
    dedup.add_argument("--keep", default="first", help="first, last, longest, newest[:FIELD], largest:FIELD, smallest:FIELD")
    dedup.add_argument("--verify", default="auto", choices="auto jaccard containment edit cosine off".split())
    dedup.add_argument("--min-similarity", type=float, default=0.8)
    dedup.add_argument("--max-verifications", type=int, default=1000)
    dedup.add_argument("--max-bucket", type=int, default=256)
    dedup.add_argument("--ngram", type=int, help="features are every N characters")
    dedup.add_argument("--across-files-only", action="store_true")
    dedup.add_argument("--text-field", default="text")
    dedup.add_argument("--id-field", default="id")
    return parser.parse_args()


def main():
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    options = arguments()
    if options.command == "vectors":
        sys.exit(check_vectors(options.folder))
    options.keep, _, options.keep_field = options.keep.partition(":")
    if options.keep == "newest":
        options.keep_field = options.keep_field or "date"
    if options.min_similarity == 0 or options.verify == "off":
        options.verify, options.min_similarity = "off", 0.8
    if options.max_distance is None:
        options.max_distance = 3 if options.verify == "off" else 8
    options.plan = (options.bands, options.rows) if options.bands else default_plan(options.min_similarity)
    documents, inputs, rejected = read(options.inputs, options)
    normal, original, truncated = clusters(documents, inputs, options)
    sys.stdout.writelines(clusters_file(documents, normal, original, options))
    count = {"read": len(documents) + rejected, "kept": len(documents) - len(original), "duplicates": len(original)}
    count |= {"rejected": rejected, "clusters": len(set(original.values())), "truncated": len(truncated)}
    print(json.dumps(count), file=sys.stderr)


if __name__ == "__main__":
    main()
