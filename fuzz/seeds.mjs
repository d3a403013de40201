// node fuzz/seeds.mjs: well-formed inputs for the targets of readers, into fuzz/corpus, so that a run of a minute begins behind the first bytes of a format.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { parquetWriteBuffer } from 'hyparquet-writer';

const FOLDER = join(import.meta.dirname, 'corpus');
const utf8 = (text) => Buffer.from(text, 'utf8');
const utf16 = (text) => Buffer.from(text, 'utf16le');
const swapped = (text) => utf16(text).swap16();
/** 望海港 and 中文 as GB18030 has them. */
const GB = Buffer.from([0xcd, 0xfb, 0xba, 0xa3, 0xb8, 0xdb, 0xd6, 0xd0, 0xce, 0xc4]);
/** 中文 as Big5 has it. */
const BIG5 = Buffer.from([0xa4, 0xa4, 0xa4, 0xe5]);

const ROWS = [
  { id: 'a', text: '望海港本月开通了一条直达南美西海岸的集装箱航线' },
  { id: 'b', text: '望海港本月开通了一条直达南美西海岸的集装箱航线！' },
  { id: 3, text: 'a "quoted" text,\nof two lines' },
  { id: 'd', text: null },
];
const jsonl = ROWS.map((row) => `${JSON.stringify(row)}\n`).join('');
const cell = (value) => `"${String(value ?? '').replaceAll('"', '""')}"`;
const csv = (gap) =>
  `id${gap}text\r\n${ROWS.map(({ id, text }) => `${id}${gap}${cell(text)}\r\n`).join('')}`;
const lines = ROWS.map(({ text }) => `${text}\n`).join('');

/** Compressed by a program, where it is there. */
function by(program, bytes) {
  try {
    return [execFileSync(program, ['-c'], { input: bytes, stdio: ['pipe', 'pipe', 'ignore'] })];
  } catch {
    return [];
  }
}

/** In every compression, plain first. */
const packed = (bytes) => [
  bytes,
  gzipSync(bytes),
  Buffer.concat([gzipSync(bytes), gzipSync(bytes)]),
  ...['zstd', 'bzip2', 'xz'].flatMap((program) => by(program, bytes)),
];

const [JSONL, ARRAY, CSV, TSV, LINES] = [0, 1, 2, 3, 4];

/** The first byte of `formats`: its remainder by 5 is the place of a format, a bit says that there is no header, the highest three an encoding; 7: it is found. */
function first(format, encoding = 7, headerless = false) {
  for (let low = 0; low < 16; low++) {
    const byte = (encoding << 5) | (headerless ? 0x10 : 0) | low;
    if (byte % 5 === format) return Buffer.from([byte]);
  }
  throw new RangeError(`no byte for ${format}`);
}

const formats = [
  ...packed(utf8(jsonl)).map((bytes) => [first(JSONL), bytes]),
  ...packed(utf8(JSON.stringify(ROWS, undefined, 1))).map((bytes) => [first(ARRAY), bytes]),
  ...[CSV, TSV].flatMap((format) => {
    const text = csv(format === CSV ? ',' : '\t');
    return [
      [first(format), utf8(text)],
      [first(format), utf8(`\ufeff${text}`)],
      [first(format, 7, true), utf8(text)],
      [first(format, 3), utf16(text)],
      [first(format, 4), swapped(text)],
    ];
  }),
  [first(CSV, 1), Buffer.concat([utf8('id,text\r\n1,"'), GB, utf8('"\r\n')])],
  [first(LINES), utf8(lines)],
  [first(LINES, 1), Buffer.concat([GB, utf8('\n'), GB])],
  [first(LINES, 2), Buffer.concat([BIG5, utf8('\n')])],
  [first(LINES), Buffer.concat([Buffer.from([0xff, 0xfe]), utf16(lines)])],
];

const strings = (name) => ROWS.map((row) => (row[name] === null ? '' : String(row[name])));
const parquet = (codec) =>
  Buffer.from(
    parquetWriteBuffer({
      columnData: [
        { name: 'id', data: strings('id'), type: 'STRING' },
        { name: 'text', data: strings('text'), type: 'STRING' },
        { name: 'n', data: [1, 2, 3, 4], type: 'INT32' },
      ],
      codec,
      rowGroupSize: 2,
    }),
  );
const table = tableFromArrays({ id: strings('id'), text: strings('text') });
const columnar = [
  ...['UNCOMPRESSED', 'SNAPPY'].flatMap((codec) => [0, 1].map((byte) => [[byte], parquet(codec)])),
  ...['file', 'stream'].flatMap((kind) => [0, 2].map((byte) => [[byte], tableToIPC(table, kind)])),
].map(([byte, bytes]) => [Buffer.from(byte), Buffer.from(bytes)]);

const records = packed(utf8(jsonl)).map((bytes) => [Buffer.alloc(0), bytes]);

/** Places of endings in the target `folder`. */
const [TXT, HTML, , MD, , PACKED, BIN] = [0, 1, 2, 3, 4, 5, 6];

/** A file of the target `folder`. */
function file(ending, name, content) {
  const [path, bytes] = [Buffer.from(name), Buffer.from(content)];
  const length = Buffer.from([bytes.length & 0xff, bytes.length >> 8]);
  return Buffer.concat([Buffer.from([ending, path.length]), length, path, bytes]);
}

const text = ROWS[0].text;
const files = [
  file(TXT, 'a', utf8(text)),
  file(TXT, 'b/c', utf8(`${text}！`)),
  file(HTML, 'page', utf8(`<title>x</title><p>${text}&amp;<b>，本月</b><script>1</script>`)),
  file(MD, '中文', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16(text)])),
  file(TXT, 'gb', Buffer.concat([GB, GB])),
  file(TXT, Buffer.from([0xff, 0x0a, 0x22]), BIG5),
  file(TXT, '"quoted"', packed(utf8(lines)).at(-1)),
  file(PACKED, 'packed', gzipSync(utf8(text))),
  file(BIN, '.hidden', utf8(text)),
  file(TXT, 'long', utf8(text.repeat(8))),
];
// Copied, listed, written; in UTF-8, in GB18030, and as they are found, by two threads.
const folder = [0x00, 0x01, 0x0f, 0x40, 0x4f, 0x80, 0x8f].map((how) => [
  Buffer.from([how]),
  ...files,
]);

for (const [target, seeds] of Object.entries({ records, formats, columnar, folder })) {
  const into = join(FOLDER, target);
  mkdirSync(into, { recursive: true });
  for (const [at, parts] of seeds.entries()) {
    writeFileSync(join(into, `seed-${at}`), Buffer.concat(parts));
  }
  console.log(`${seeds.length} seeds for ${target}`);
}
