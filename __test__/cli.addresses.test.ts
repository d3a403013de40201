/** Addresses where files are expected: refused, and no password of one is ever shown. */
import { expect, test } from 'vitest';
import { redacted, unnamed } from '../ts/connect/url';
import { Folder } from './cli-run';

const folder = new Folder();
const TEXTS = folder.write(
  'in.jsonl',
  '{"id":"a","text":"今天下午三点左右，西湖区发生交通事故"}\n',
);
const CONFIG = folder.write('run.json', '{"known": ["mongodb://me:secret@h/a.b"]}');
const FOREIGN = folder.write('odd.json', '{"keep": "mongodb://me:secret@h/a.b"}');
const REDIS = 'redis://me:secret@h';
const MONGO = 'mongodb://me:secret@h/a.b';

test.each([
  [['dedup', 'postgres://me:secret@h/db', '-o', 'x'], 'dedup takes files or collections'],
  [['dedup', 'postgres://me:secret@h/db', '-o', 'x', '--json'], 'dedup takes files or collections'],
  [['dedup', 'jdbc:postgresql://me:secret@h/db', '-o', 'x'], '(jdbc:postgresql://…)'],
  [['dedup', ' postgres://me:secret@h/db', '-o', 'x'], 'cannot read  postgres://h/db'],
  [['dedup', REDIS, '-o', 'x'], 'not an address (redis://…)'],
  [['dedup', "redis://me:o'x secret@h", '-o', 'x'], 'not an address (redis://…)'],
  [['dedup', 'postgres://h/db?password=secret', '-o', 'x'], 'not an address (postgres://…)'],
  [['dedup', TEXTS, '-o', MONGO], '-o must be a file, as the input is, not a collection'],
  [['dedup', TEXTS, '-o', REDIS], '-o takes files, not an address (redis://…)'],
  [['dedup', TEXTS, '--known', MONGO, '-o', 'x'], '--known must be a file, as the input is'],
  [['dedup', TEXTS, '--config', CONFIG, '-o', 'x'], 'known in run.json must be a file'],
  [['dedup', TEXTS, '--config', FOREIGN, '-o', 'x'], "got 'mongodb://h/a.b'"],
  [['dedup', TEXTS, '--report', MONGO, '-o', 'x'], '--report takes files, not an address'],
  [['dedup', TEXTS, '--min-features', MONGO, '-o', 'x'], "got 'mongodb://h/a.b'"],
  [['dedup', MONGO, '-o', "postgres://me:se'secret@h"], "'postgres://h' must be mongodb://HOST"],
  [['dedup', MONGO, '-o', 'mongodb://h/a.c', '--rejects', REDIS], '--rejects takes files'],
  [['dedup', 'mongodb://me:pa/secret@h.x/a.b', '--mark'], 'must be escaped, as %2F, %3F and %40'],
  [['dedup', MONGO, MONGO, '-o', 'x'], 'dedup reads one collection at a time'],
  [['plan', REDIS], 'plan takes files or collections'],
  [['plan', TEXTS, '--known', MONGO], '--known must be a file'],
  [['pairs', REDIS], 'pairs takes files, not an address (redis://…)'],
  [['pairs', TEXTS, '-o', REDIS], '-o takes files'],
  [['clusters', MONGO], 'clusters takes files, not an address (mongodb://…)'],
  [['match', TEXTS, '--against', MONGO], '--against takes files'],
  [['match', TEXTS, '--index', MONGO], '--index takes files'],
  [['index', 'stats', MONGO], 'index stats takes files, not an address (mongodb://…)'],
  [['index', 'stats', 'x', MONGO], "does not take 'mongodb://h/a.b'"],
  [['index', 'build', 'x', REDIS], 'index build takes files'],
  [['fingerprint', REDIS], 'fingerprint takes files'],
  [['serve', 'x', '--snapshots', REDIS], '--snapshots takes files'],
  [['report', 'x', '--docs', REDIS], '--docs takes files'],
  [['unmark', "redis://me:se'x secret@h"], "not 'redis://h'"],
  [['unmark', 'mongodb:///a.b?tlsCertificateKeyFilePassword=secret'], 'and so takes no options'],
  [[REDIS], "unknown command 'redis://h'"],
] as const)('%j is refused without its password', async (args, says) => {
  const { status, stdout, stderr } = await folder.run([...args]);
  expect(stderr).toContain(says);
  expect(status).toBe(says.startsWith('cannot read') ? 3 : 2);
  expect(stdout + stderr).not.toContain('secret');
  expect(folder.names()).toEqual([TEXTS, FOREIGN, CONFIG]);
});

test('a path that looks like an address is one behind ./', async () => {
  const { status, stderr } = await folder.run(['dedup', './redis://h', '-o', 'x']);
  expect(stderr).toContain('cannot read ./redis://h');
  expect(status).toBe(3);
});

test('texts may be addresses', async () => {
  const { status } = await folder.run([
    'explain',
    'https://example.org/a',
    'https://example.org/b',
  ]);
  expect(status).toBe(0);
});

test('an address loses user, password and query, whatever stands in them', () => {
  expect(unnamed("redis://me:a'b ?@c/secret@h:1/0?password=secret")).toBe('redis://h:1/0');
  expect(redacted('at pg://h/db?user=me&password=secret, or (x://a:secret@h/?a=b).')).toBe(
    'at pg://h/db?… or (x://h/?…',
  );
  expect(redacted('is it http://h/x? see ftp://y')).toBe('is it http://h/x? see ftp://y');
  const text = JSON.stringify({ a: 'http://h?x="y"', b: 'http://h/?p=a\\', c: 1 });
  expect(JSON.parse(redacted(text))).toEqual({ a: 'http://h?…"y"', b: expect.any(String), c: 1 });
});
