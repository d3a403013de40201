/** What every command takes for a record, whoever reads it. */
import { cpSync, existsSync, openSync, rmSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { ended, Folder, SAMPLE } from './cli-run';

const folder = new Folder();
const TWO = '{"id":1,"text":"今天多云转小雨，请带伞。"}\n{"id":2,"text":"明天晴，气温回升。"}\n';

interface Figures {
  readonly read: number;
  readonly rejected: number;
}

/** Documents that every command can be asked about. */
folder.write('good', TWO);
folder.write('labels', '[1,2]\n');
beforeAll(async () => {
  await folder.run(['index', 'build', 'there', 'good']);
});

/** What every command that counts records says of an input. */
async function figures(input: string, stdin: string | Uint8Array = ''): Promise<Figures[]> {
  const all: Figures[] = [];
  for (const made of ['i', 'grown']) rmSync(folder.join(made), { recursive: true, force: true });
  cpSync(folder.join('there'), folder.join('grown'), { recursive: true });
  for (const command of [
    ['dedup', '--dry-run'],
    ['clusters', '-o', 'c'],
    ['pairs', '-o', 'p'],
    ['index', 'build', 'i'],
    ['index', 'add', 'grown'],
    ['index', 'query', '-o', 'q', 'there'],
  ]) {
    const { stdout } = await folder.run([...command, input, '--json'], stdin);
    const { read, rejected } = JSON.parse(stdout) as Figures;
    all.push({ read, rejected });
  }
  return all;
}

/** How many different answers they give: one, if they agree. */
function agreed(all: readonly Figures[]): Figures {
  for (const figures of all) expect(figures).toEqual(all[0]);
  return all[0] as Figures;
}

/** One command of each kind that reads documents; the file comes last. */
const EVERY = [
  ['dedup', '--dry-run'],
  ['pairs'],
  ['fingerprint', '--format', 'jsonl'],
  ['index', 'build', 'new'],
  ['index', 'query', 'there'],
  ['eval', 'labels', '--labels', 'labels', '--docs'],
  ['tune'],
  ['explain', '1', 'nobody', '--in'],
];

test('gzip is known by its bytes: whatever the name, and on standard input', async () => {
  const read = { read: 2, rejected: 0 };
  folder.write('packed.jsonl', gzipSync(TWO));
  folder.write('plain.jsonl.gz', TWO);
  expect(agreed(await figures('packed.jsonl'))).toEqual(read);
  expect(agreed(await figures('plain.jsonl.gz'))).toEqual(read);
  expect(agreed(await figures('-', gzipSync(TWO)))).toEqual(read);
  folder.write('members', Buffer.concat([gzipSync(TWO), gzipSync(TWO)]));
  expect(agreed(await figures('members'))).toEqual({ read: 4, rejected: 0 });
});

test('zeros behind gzip are padding, and anything else is named with its place', async () => {
  const packed = gzipSync(TWO);
  const read = { read: 2, rejected: 0 };
  folder.write('padded', Buffer.concat([packed, Buffer.alloc(1000)]));
  expect(agreed(await figures('padded'))).toEqual(read);
  folder.write('tail', Buffer.concat([packed, Buffer.from('garbage')]));
  for (const command of EVERY) {
    const { status, stderr } = await folder.run([...command, 'tail']);
    expect({ command, status }).toEqual({ command, status: 3 });
    expect(stderr).toMatch(/^error: cannot read tail: .*at byte \d+/);
  }
});

test.each([
  ['UTF-16 with a mark', '\uFEFF', 'utf16le'],
  ['UTF-16 without', '', 'utf16le'],
] as const)('%s is found and read, whoever reads', async (_name, mark, encoding) => {
  folder.write('wide', Buffer.from(`${mark}${TWO}`, encoding));
  expect(agreed(await figures('wide'))).toEqual({ read: 2, rejected: 0 });
  const { stderr } = await folder.run(['dedup', '--dry-run', 'wide']);
  expect(stderr).toContain('wide is read as UTF-16LE\n');
});

test('bytes of a summary are those of the lines, decompressed, whoever reads', async () => {
  folder.write('lines', TWO);
  folder.write('lines.gz', gzipSync(TWO));
  for (const name of ['lines', 'lines.gz']) {
    for (const command of [
      ['dedup', '--dry-run'],
      ['index', 'build', `of.${name}`],
    ]) {
      const { stdout } = await folder.run([...command, name, '--json']);
      expect(JSON.parse(stdout)).toMatchObject({ bytes: Buffer.byteLength(TWO) });
    }
  }
});

test('a line beyond 64 MiB is a rejected record, whoever reads', async () => {
  const long = `{"text":"${'x'.repeat(2 ** 26)}"}\n`;
  folder.write('long', `${TWO}${long}${TWO}`);
  for (const command of [['dedup', '--dry-run'], ['pairs']]) {
    const { status, stderr } = await folder.run([...command, 'long']);
    expect({ command, status }).toEqual({ command, status: 1 });
    expect(stderr).toContain('long:3: longer than 64 MiB: 67,108,875 bytes');
  }
});

test('a damaged gzip file is an error, whatever its name', async () => {
  folder.write('cut', gzipSync(TWO).subarray(0, 40));
  for (const command of [...EVERY, ['index', 'build', 'i2']]) {
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
  ['one byte behind a record', `${TWO}1`, 3, 1],
])('%s: all commands count the same', async (_name, content, read, rejected) => {
  folder.write('in', content);
  expect(agreed(await figures('in'))).toEqual({ read, rejected });
  // Those that say what was rejected, and not how much was read.
  for (const command of [
    ['eval', 'labels', '--labels', 'labels', '--docs', 'in', '--json'],
    ['tune', 'in', '--json', '-q'],
    ['explain', '--in', 'in', '2', 'nobody'],
  ]) {
    const { stdout, stderr } = await folder.run(command);
    const told = stderr.split('\n').filter((line) => line.startsWith('in:')).length;
    expect({ command, told }).toEqual({ command, told: rejected });
    if (stdout !== '') expect(JSON.parse(stdout)).toMatchObject({ rejected });
  }
});

/** Refuses every write as a full disk does; Linux has it. */
const full = existsSync('/dev/full') ? ['/dev/full'] : [];

test.each(full)('a full disk behind standard output (%s) is said, and exits 3', async (disk) => {
  for (const args of [
    ['fingerprint'],
    ['pairs'],
    ['dedup', '-o', '-'],
    ['index', 'query', 'there'],
  ]) {
    const child = folder.start([...args, SAMPLE], {}, openSync(disk, 'w'));
    const { status, stderr } = await ended(child);
    expect({ args, status }).toEqual({ args, status: 3 });
    expect(stderr).toMatch(/error: cannot write .*no space/i);
  }
});
