/** The sample of the repository in the shapes in which corpora come, for the front page and the tests of formats. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { ROOT } from './cli-run';

export interface Row {
  readonly id: string;
  readonly text: string;
}

export const sample: readonly Row[] = readFileSync(join(ROOT, 'examples/sample.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Row);

/** The bytes of every character of GB18030 in the Basic Multilingual Plane, from Node's decoder: there is no encoder. */
const bytes = new Map<string, number[]>();
const decoder = new TextDecoder('gb18030');
const learn = (...code: number[]) => {
  const character = decoder.decode(Uint8Array.from(code));
  if (character.length === 1 && character !== '\ufffd') bytes.set(character, code);
};
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);
for (const one of range(0x81, 0xfe)) for (const two of range(0x40, 0xfe)) learn(one, two);
for (const one of range(0x81, 0x84))
  for (const two of range(0x30, 0x39))
    for (const three of range(0x81, 0xfe))
      for (const four of range(0x30, 0x39)) learn(one, two, three, four);

/** Text in GB18030, of which GBK is a part, as programs on Chinese Windows save it. */
export function gb18030(text: string): Buffer {
  const encoded: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    const place = point - 0x10000 + 189_000;
    const [two, three] = [Math.floor(place / 1260), Math.floor(place / 10)];
    if (point < 0x80) encoded.push(point);
    else if (point < 0x10000) encoded.push(...(bytes.get(character) ?? []));
    else
      encoded.push(
        0x81 + Math.floor(place / 12600),
        0x30 + (two % 10),
        0x81 + (three % 126),
        0x30 + (place % 10),
      );
  }
  const written = Buffer.from(encoded);
  if (decoder.decode(written) !== text) throw new RangeError(`not as GB18030: ${text}`);
  return written;
}

/** A sheet with two columns as Excel saves it as CSV in Chinese: GB18030, lines that end in CR LF. */
export function sheet(rows: readonly Row[]): Buffer {
  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = rows.map(({ id, text }) => `${id},${cell(text)}\r\n`);
  return gb18030(`编号,正文\r\n${lines.join('')}`);
}

export function parquet(rows: readonly Row[]): Buffer {
  const column = (name: keyof Row) => ({
    name,
    data: rows.map((row) => row[name]),
    type: 'STRING' as const,
  });
  const length = {
    name: 'length',
    data: rows.map(({ text }) => text.length),
    type: 'INT32' as const,
  };
  return Buffer.from(
    parquetWriteBuffer({
      columnData: [column('id'), column('text'), length],
      kvMetadata: [{ key: 'made by', value: '测试' }],
      rowGroupSize: 100,
    }),
  );
}

/** A file in GB18030 for each row. */
export function texts(folder: string, rows: readonly Row[]): void {
  mkdirSync(folder, { recursive: true });
  for (const { id, text } of rows) writeFileSync(join(folder, `${id}.txt`), gb18030(text));
}
