import { describe, expect, test } from 'vitest';
import { Fingerprinter, Idf } from '..';
import { Folder } from './cli-run';

const DOCS = ['我们学习数据库，数据库', '我们学习英语', '我们休息', '我们学习'];
const folder = new Folder();
const weights = (idf: Idf | string | Uint8Array) =>
  new Fingerprinter({ preset: 'jieba-tfidf', idf })
    .features('我们学习数据库')
    .map(({ token, weight }) => [token, weight]);

describe('a table', () => {
  test('is read from a path, bytes or lines and gives the weights', () => {
    const lines = ['我们 1', '学习 2', '数据库 6'];
    const file = folder.join(folder.write('idf.txt', lines.join('\n')));
    for (const given of [file, Buffer.from(lines.join('\n')), new Idf(lines)]) {
      expect(weights(given)).toEqual([
        ['数据库', 2],
        ['学习', 2 / 3],
        ['我们', 1 / 3],
      ]);
    }
  });

  test('has the median for a word that is not in it', () => {
    const idf = new Idf(['甲乙 1', '丙丁 2', '戊己 6']);
    expect([idf.get('丙丁'), idf.get('没有'), idf.size]).toEqual([2, 2, 3]);
  });

  test('names a bad line, and refuses a file without any', () => {
    for (const wrong of ['二', '二 x', '二 -1', '二 101', '二 NaN']) {
      expect(() => new Idf(['一 1', wrong])).toThrow(
        expect.objectContaining({
          code: 'ERR_SIMHASH_LINE',
          message: expect.stringContaining('line 2'),
        }),
      );
    }
    expect(() => new Idf([])).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARG_VALUE' }));
    expect(() => new Idf(3 as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }),
    );
  });
});

describe('training', () => {
  /** By the formula: documents of a word, once each. */
  const value = (count: number) =>
    Math.round((Math.log((1 + DOCS.length) / (1 + count)) + 1) * 1e6) / 1e6;

  test('counts the documents of each word', async () => {
    const idf = await Idf.train(DOCS);
    expect(['我们', '学习', '数据库'].map((word) => idf.get(word))).toEqual([4, 3, 1].map(value));
  });

  test('takes texts, bytes and objects from any iterable, in batches that change nothing', async () => {
    const saved = (await Idf.train(DOCS)).save();
    async function* stream() {
      for (const text of DOCS) yield { text: Buffer.from(text) };
    }
    for (const docs of [new Set(DOCS), stream(), DOCS.map((text) => Buffer.from(text))]) {
      expect((await Idf.train(docs as Iterable<string>, { batch: 1 })).save()).toBe(saved);
    }
  });

  test('a saved table is read back to an equal one', async () => {
    const idf = await Idf.train(DOCS);
    const file = folder.join(folder.write('trained.txt', idf.save()));
    expect(new Idf(file).save()).toBe(idf.save());
    expect(weights(file)).toEqual(weights(idf));
  });

  test('sees documents as the fingerprinter will: normalised, with its dictionary', async () => {
    const docs = ['ＡＰＩ网关云计算Ｐｒｏ', 'api网关'];
    const idf = await Idf.train(docs, { dictionary: ['云计算Pro 100'] });
    expect(idf.save()).toMatch(/^api 1$/m);
    expect(idf.save()).toMatch(/^云计算pro /m);
    expect((await Idf.train(docs, { normalize: false })).save()).not.toMatch(/^api 1$/m);
  });

  test('leaves rare words out, and says when none is left', async () => {
    expect((await Idf.train(DOCS, { minDocuments: 3 })).size).toBe(2);
    await expect(Idf.train(DOCS, { minDocuments: 5 })).rejects.toMatchObject({
      code: 'ERR_INVALID_ARG_VALUE',
    });
    await expect(Idf.train([])).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
  });

  test('an abort rejects with its reason and closes the source', async () => {
    const reason = new Error('enough');
    let closed = false;
    const controller = new AbortController();
    function* source() {
      try {
        for (let row = 0; ; row++) {
          if (row === 1000) controller.abort(reason);
          yield `第${row}条`;
        }
      } finally {
        closed = true;
      }
    }
    await expect(Idf.train(source(), { signal: controller.signal })).rejects.toBe(reason);
    expect(closed).toBe(true);
  });

  test('checks its options', async () => {
    const type = { code: 'ERR_INVALID_ARG_TYPE' };
    await expect(Idf.train('text' as never)).rejects.toMatchObject(type);
    await expect(Idf.train([3] as never)).rejects.toMatchObject(type);
    await expect(Idf.train([], { minDocument: 3 } as never)).rejects.toThrow("'minDocuments'");
    await expect(Idf.train([], { minDocuments: 0 })).rejects.toMatchObject({
      code: 'ERR_OUT_OF_RANGE',
    });
    await expect(Idf.train([], { batch: 0 })).rejects.toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
  });
});
