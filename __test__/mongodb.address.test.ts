/** Addresses of collections, and what messages show of them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { addressOf } from '../ts/connect/mongodb/address';
import { redacted } from '../ts/connect/url';

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
  });
});
