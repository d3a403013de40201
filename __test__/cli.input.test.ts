/** What every command takes for a record, whoever reads it. */
import { existsSync, openSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ended, Folder, SAMPLE } from './cli-run';

const folder = new Folder();
const TWO = '{"id":1,"text":"今天多云转小雨，请带伞。"}\n{"id":2,"text":"明天晴，气温回升。"}\n';

interface Figures {
  readonly read: number;
  readonly rejected: number;
}

/** What `dedup` and `index build` say of an input. */
async function figures(input: string, stdin: string | Uint8Array = ''): Promise<Figures[]> {
  const all = [];
  for (const command of [
    ['dedup', '--dry-run'],
    ['index', 'build', '-o', 'i'],
  ]) {
    const { stdout } = await folder.run([...command, input, '--json'], stdin);
    const { read, rejected } = JSON.parse(stdout) as Figures;
    all.push({ read, rejected });
  }
  return all;
}

test('gzip is known by its bytes: whatever the name, and on standard input', async () => {
  const read = { read: 2, rejected: 0 };
  folder.write('packed.jsonl', gzipSync(TWO));
  folder.write('plain.jsonl.gz', TWO);
  expect(await figures('packed.jsonl')).toEqual([read, read]);
  expect(await figures('plain.jsonl.gz')).toEqual([read, read]);
  expect(await figures('-', gzipSync(TWO))).toEqual([read, read]);
  folder.write('members', Buffer.concat([gzipSync(TWO), gzipSync(TWO)]));
  expect(await figures('members')).toEqual([
    { read: 4, rejected: 0 },
    { read: 4, rejected: 0 },
  ]);
});

test('a damaged gzip file is an error, whatever its name', async () => {
  folder.write('cut', gzipSync(TWO).subarray(0, 40));
  for (const command of [['dedup', '--dry-run'], ['index', 'build', '-o', 'i2'], ['pairs']]) {
    const { status, stderr } = await folder.run([...command, 'cut']);
    expect({ command, status }).toEqual({ command, status: 3 });
    expect(stderr).toMatch(/^error: cannot read cut: /);
  }
  expect(folder.names()).not.toContain('i2');
});

test.each([
  ['a byte order mark in front of the file', `\uFEFF${TWO}`, 2, 0],
  ['one in front of another line', `${TWO}\uFEFF{"text":"x"}\n`, 3, 1],
  ['a byte order mark alone', '\uFEFF', 0, 0],
  ['blank lines of JSON', `\n \t\r\n${TWO}\r\n`, 2, 0],
  ['space that JSON does not know', `${TWO}\u00A0\n\u3000\n`, 4, 2],
  ['no end of the last line', TWO.trimEnd(), 2, 0],
  ['an empty file', '', 0, 0],
  ['one byte', '1', 1, 1],
])('%s: all commands count the same', async (_name, content, read, rejected) => {
  folder.write('in', content);
  expect(await figures('in')).toEqual([
    { read, rejected },
    { read, rejected },
  ]);
});

/** Refuses every write as a full disk does; Linux has it. */
const full = existsSync('/dev/full') ? ['/dev/full'] : [];

test.each(full)('a full disk behind standard output (%s) is said, and exits 3', async (disk) => {
  for (const args of [['fingerprint'], ['pairs'], ['dedup', '-o', '-']]) {
    const child = folder.start([...args, SAMPLE], {}, openSync(disk, 'w'));
    const { status, stderr } = await ended(child);
    expect({ args, status }).toEqual({ args, status: 3 });
    expect(stderr).toMatch(/error: cannot write .*no space/i);
  }
});
