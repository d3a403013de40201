/** Addresses of collections, and what messages show of them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { dedupCollection } from '../dist/connect/mongodb.js';
import { addressOf } from '../ts/connect/mongodb/address';
import { redacted } from '../ts/connect/url';
import { Folder } from './cli-run';

const folder = mkdtempSync(join(tmpdir(), 'simhash-mongodb-address-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('addresses', () => {
  test('name a server, a database and a collection', () => {
    expect(addressOf('mongodb://u:p@a:1,b:2/news.raw.2024?replicaSet=x', 'source')).toEqual({
      uri: 'mongodb://u:p@a:1,b:2/news?replicaSet=x',
      database: 'news',
      collection: 'raw.2024',
    });
    const file = join(folder, 'uri');
    writeFileSync(file, 'mongodb://of-file\nsecond line\n');
    const from = (env: object) => addressOf('mongodb:///a.b', 'source', env as never).uri;
    expect(from({ MONGODB_URI: 'mongodb://of-env' })).toBe('mongodb://of-env');
    expect(from({ MONGODB_URI_FILE: file })).toBe('mongodb://of-file');
    expect(() => from({})).toThrow('neither MONGODB_URI nor MONGODB_URI_FILE is set');
  });

  test.each(['mongodb://u:secret@h/db', 'mongodb://u:secret@h/.c', 'mongodb://u:secret@h'])(
    '%s is refused without its password',
    (text) => {
      expect(() => addressOf(text, 'target')).toThrow(/target must be mongodb:\/\/HOST/);
      expect(() => addressOf(text, 'target')).not.toThrow(/secret/);
    },
  );

  test.each([
    'mongodb://me:pa/secret@h.x/a.b',
    'mongodb://me:pa/a.b?secret@h/a.b',
    'mongodb://h/a.b?ret@h=secret',
    'mongodb://h/a.secret@b',
  ])('%s has to be escaped', (text) => {
    expect(() => addressOf(text, 'target')).toThrow(/target must be .* must be escaped/);
    expect(() => addressOf(text, 'target')).not.toThrow(/secret/);
    const escaped = addressOf('mongodb://me:pa%2Fse%40cret@h/a%40.b?x=%40', 'target');
    expect(escaped).toMatchObject({ database: 'a@', collection: 'b' });
  });

  test.each([
    'mongodb://me:secret p@ss@127.0.0.1:1/a.b',
    'mongodb://me:sec ret@127.0.0.1:1/a.b',
    "mongodb://me:sec'ret@127.0.0.1:1/a.b",
    'mongodb://me:sec"ret@127.0.0.1:1/a.b',
    'mongodb://me:sec ret@@127.0.0.1:1/a.b',
    'mongodb://me:sec%ret@127.0.0.1:1/a.b',
    'mongodb://me:sec:ret@127.0.0.1:1/a.b',
    'mongodb://me:sec ret@/a.b',
    'mongodb+srv://me:secret@ret@h.x/a.b',
  ])('%s is refused: nobody can say where user and password end', (text) => {
    const file = join(folder, 'unescaped');
    writeFileSync(file, text);
    for (const [given, env, name] of [
      [text, {}, /^source: /],
      ['mongodb:///a.b', { MONGODB_URI: text }, /^MONGODB_URI: /],
      ['mongodb:///a.b', { MONGODB_URI_FILE: file }, /^the first line of MONGODB_URI_FILE: /],
    ] as const) {
      const address = () => addressOf(given, 'source', env as never);
      expect(address).toThrow(name);
      expect(address).toThrow(/percent-encoded/);
      expect(address).not.toThrow(/sec|ret|ss@|me:/);
    }
  });

  test('in the environment are those of servers, and have no user without a host', () => {
    const from = (env: object) => () => addressOf('mongodb:///a.b', 'source', env as never);
    for (const uri of ['me:secret@127.0.0.1:1', 'mongodb:/me:secret@h/', 'mongodb:///secret']) {
      expect(from({ MONGODB_URI: uri })).toThrow('MONGODB_URI must be mongodb://HOST');
      expect(from({ MONGODB_URI: uri })).not.toThrow(/secret/);
    }
    const bare = () => addressOf('mongodb://me:secret@/a.b', 'source');
    expect(bare).toThrow('source has a user and no host behind it');
    const uri = 'mongodb://me:p%40%2f$!&*@[::1]:1,h:2/x?authSource=$external';
    expect(from({ MONGODB_URI: `${uri}\n` })()).toMatchObject({ uri });
    const file = join(folder, 'none');
    expect(from({ MONGODB_URI_FILE: file })).toThrow(
      expect.objectContaining({
        code: 'ERR_SIMHASH_INPUT',
        message: expect.stringContaining(file),
      }),
    );
  });

  test.each([
    ['mongodb://me:secret@:1/a.b', /^source: MongoDB: /],
    ['mongodb://me:secret@127.0.0.1:99999/a.b', /^source: MongoDB: /],
    ['mongodb+srv://me:secret@localhost/a.b', /^source: MongoDB: /],
    ['mongodb://me:secret@127.0.0.1:1/a.b?tls=secret', /^source: MongoDB: /],
    ['mongodb://me:secret@127.0.0.1:1/a.b?serverSelectionTimeoutMS=50', /^source: MongoDB: /],
  ])('%s is an error of the input, which says no password', async (text, said) => {
    const error = await dedupCollection(text, 'mongodb://h/a.c').catch((error) => error);
    expect(error).toMatchObject({
      code: 'ERR_SIMHASH_INPUT',
      message: expect.stringMatching(said),
    });
    expect(inspect(error, { depth: 1 })).not.toMatch(/me:secret|secret@/);
    const cli = new Folder();
    const { status, stderr } = await cli.run(['dedup', text, '-o', 'mongodb://h/a.c']);
    expect(status).toBe(3);
    expect(stderr).not.toMatch(/me:secret|secret@| {4}at /);
  });

  test('options of an address are in no message: a password may be among them', () => {
    const query = '?tlsCertificateKeyFilePassword=secret';
    for (const text of [`mongodb:///a.b${query}`, `mongodb://h/ab${query}`]) {
      expect(() => addressOf(text, 'source', {} as never)).toThrow(/^source /);
      expect(() => addressOf(text, 'source', {} as never)).not.toThrow(/secret/);
    }
  });

  test('users and passwords are left out of texts', () => {
    const text = 'cannot reach redis://me:pw@h/0, mongodb+srv://a:b%40c@h/d or postgres://x@y/z';
    expect(redacted(text)).toBe('cannot reach redis://h/0, mongodb+srv://h/d or postgres://y/z');
    const unescaped = `"mongodb://me:sec ret/'x"y@@h:1/a" and http://h:80/x of a@b`;
    expect(redacted(unescaped)).toBe('"mongodb://h:1/a" and http://h:80/x of a@b');
    const json = JSON.stringify({ a: 'http://h:x', b: 'a@b' });
    expect(redacted(json)).toBe(json);
  });
});
