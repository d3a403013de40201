/** Parquet and Arrow through the addon, beside other people's readers and writers of both. */
import { readFileSync } from 'node:fs';
import { RecordBatchReader, tableFromArrays, tableFromIPC, tableToIPC } from 'apache-arrow';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import { dedupFiles } from '..';
import { Folder, jsonLines } from './cli-run';
import { parquet, type Row, sample } from './shapes';

const folder = new Folder();
const inner = (buffer: Buffer) => new Uint8Array(buffer).buffer;

/** What is kept of the sample as JSON lines. */
async function kept(): Promise<Row[]> {
  folder.write('in.jsonl', sample.map((row) => `${JSON.stringify(row)}\n`).join(''));
  await dedupFiles(folder.join('in.jsonl'), folder.join('out.jsonl'));
  return jsonLines(folder.read('out.jsonl')) as unknown as Row[];
}

test('rows of Parquet are those of JSON lines, with their columns and metadata', async () => {
  folder.write('in.parquet', parquet(sample));
  const { status, stderr } = await folder.run(['dedup', 'in.parquet', '-o', 'out.parquet']);
  expect(stderr).toContain(`read ${sample.length} = kept `);
  expect(status).toBe(0);
  const file = inner(readFileSync(folder.join('out.parquet')));
  const expected = (await kept()).map(({ id, text }) => ({ id, text, length: text.length }));
  expect(await parquetReadObjects({ file })).toEqual(expected);
  const metadata = parquetMetadata(file).key_value_metadata;
  expect(metadata).toEqual([{ key: 'made by', value: '测试' }]);
});

test.each(['file', 'stream'] as const)('rows of an Arrow %s too', async (type) => {
  const columns = {
    id: sample.map(({ id }) => id),
    length: Int32Array.from(sample, ({ text }) => text.length),
    text: sample.map(({ text }) => text),
  };
  folder.write('in.arrow', Buffer.from(tableToIPC(tableFromArrays(columns), type)));
  await dedupFiles(folder.join('in.arrow'), folder.join('out.arrow'));
  const out = readFileSync(folder.join('out.arrow'));
  expect(out.subarray(0, 6).toString() === 'ARROW1').toBe(type === 'file');
  const rows = tableFromIPC(out).toArray() as readonly (Row & { length: number })[];
  const plain = rows.map(({ id, text, length }) => ({ id, text, length }));
  expect(plain).toEqual((await kept()).map(({ id, text }) => ({ id, text, length: text.length })));
  const before = [...RecordBatchReader.from(readFileSync(folder.join('in.arrow')))][0]?.schema;
  const after = [...RecordBatchReader.from(out)][0]?.schema;
  expect(after?.fields.map(String)).toEqual(before?.fields.map(String));
});

test('options of other formats are refused, and so is the name of another container', async () => {
  const table = tableFromArrays({ text: ['早稻收割已经进入尾声'] });
  folder.write('options.arrow', Buffer.from(tableToIPC(table, 'file')));
  for (const [options, told] of [
    [['-o', 'x.arrow', '--no-header'], '--no-header must be left out: '],
    [['-o', 'x.arrow', '--delimiter', ';'], '--delimiter must be left out: '],
    [
      ['-o', 'x.arrow', '--encoding', 'utf-8'],
      '--encoding must be left out: Parquet and Arrow say',
    ],
    [['-o', 'x.parquet'], '-o must be a name for the format of the inputs'],
  ] as const) {
    const { status, stderr } = await folder.run(['dedup', 'options.arrow', ...options]);
    expect(stderr).toContain(told);
    expect(stderr).toMatch(/options\.arrow \(Arrow\)|x\.parquet for Arrow/);
    expect(status).toBe(2);
  }
  expect(folder.names().filter((name) => name.startsWith('x.'))).toEqual([]);
});

test('an id may be a number, and other columns have other names', async () => {
  const table = tableFromArrays({
    no: BigInt64Array.of(7n, 8n, 9n),
    body: ['早稻收割已经进入尾声', '早稻收割已经进入尾声', '图书馆新馆试运行'],
  });
  folder.write('no.arrow', Buffer.from(tableToIPC(table, 'file')));
  const options = [
    '-o',
    'no-out.arrow',
    '--text-field',
    'body',
    '--id-field',
    'no',
    '--clusters',
    'no.jsonl',
  ];
  expect((await folder.run(['dedup', 'no.arrow', ...options])).status).toBe(0);
  expect(jsonLines(folder.read('no.jsonl'))).toEqual([
    { representative: 7, members: [{ id: 7 }, { id: 8, similarity: 1 }] },
  ]);
});

test('what is damaged or has other columns is an error, and nothing is replaced', async () => {
  const whole = parquet(sample);
  folder.write('there.parquet', 'was here');
  const wrong: readonly (readonly [string, Buffer, string[], string])[] = [
    ['cut.parquet', whole.subarray(0, whole.length / 2), [], 'cut.parquet'],
    ['bits.parquet', Buffer.from(whole).fill(0xa5, 40, 4000), [], 'bits.parquet'],
    ['column.parquet', whole, ['--text-field', 'body'], 'id, text, length'],
    ['mark.parquet', whole, ['--mark'], '--mark'],
  ];
  for (const [name, bytes, options, said] of wrong) {
    folder.write(name, bytes);
    const { status, stderr } = await folder.run(['dedup', name, '-o', 'there.parquet', ...options]);
    expect([name, status]).toEqual([name, name === 'mark.parquet' ? 2 : 3]);
    expect(stderr).toContain(said);
    expect(folder.read('there.parquet')).toBe('was here');
  }
});
