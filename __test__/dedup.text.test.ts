/** Which text a document has, and what becomes of one without. */
import { expect, test } from 'vitest';
import { type Decision, type DedupOptions, dedup, type Summary } from '..';

const NEWS =
  '青禾市图书馆新馆昨日起试运行。新馆位于云浦大道东侧，地上五层，藏书一百二十万册，设有阅览座位两千三百个。';
const OTHER =
  '临溪县今年的早稻收割进入尾声，全县二十八万亩早稻已收割九成以上，平均亩产比去年增加十一公斤。';

interface Row {
  id: number;
  body?: { html: string | null | Uint8Array } | undefined;
}
const rows: Row[] = [
  { id: 1, body: { html: NEWS } },
  { id: 2 },
  { id: 3, body: { html: Buffer.from(`【转载】${NEWS}`) } },
  { id: 4, body: { html: null } },
  { id: 5, body: { html: OTHER } },
  { id: 6, body: { html: OTHER } },
];

async function all<D>(
  stream: AsyncGenerator<Decision<D>, Summary>,
): Promise<[Decision<D>[], Summary]> {
  const decisions: Decision<D>[] = [];
  for (;;) {
    const { done, value } = await stream.next();
    if (done) return [decisions, value];
    decisions.push(value);
  }
}

const reason = 'must have a text in body.html, got';
const expected = [
  { status: 'kept', index: 0 },
  { status: 'rejected', index: 1, reason: `${reason} undefined` },
  { status: 'duplicate', index: 2, duplicateOf: 0 },
  { status: 'rejected', index: 3, reason: `${reason} null` },
  { status: 'kept', index: 4 },
  { status: 'duplicate', index: 5, duplicateOf: 4 },
];

test.each([1, 2, 6, 100])(
  'a field, and rejected documents between others, in batches of %d',
  async (batch) => {
    const [decisions, summary] = await all(
      dedup(rows, { text: 'body.html', onMissing: 'reject', batch }),
    );
    expect(decisions).toMatchObject(expected);
    expect(decisions.map(({ doc }) => doc)).toEqual(rows);
    expect(summary).toMatchObject({ read: 6, kept: 2, duplicates: 2, rejected: 2, clusters: 2 });
  },
);

test.each([
  { cluster: 'components' as const },
  { keep: 'last' as const },
  { keep: (members: readonly Row[]) => members.findIndex(({ id }) => id === 6 || id === 3) },
])('positions count rejected documents where the end decides: %o', async (how) => {
  for (const batch of [1, 4]) {
    const options: DedupOptions<Row> & { text: string } = {
      text: 'body.html',
      onMissing: 'reject',
      batch,
      ...how,
    };
    const [decisions, summary] = await all(dedup(rows, options));
    const links = decisions.map(({ status, duplicateOf }) => duplicateOf ?? status);
    const first = ['kept', 'rejected', 0, 'rejected', 'kept', 4];
    const last = [2, 'rejected', 'kept', 'rejected', 5, 'kept'];
    expect(links).toEqual('keep' in how ? last : first);
    expect(summary).toMatchObject({ read: 6, kept: 2, duplicates: 2, rejected: 2 });
  }
});

test('a function is given each document once, in order, and may give nothing', async () => {
  const seen: number[] = [];
  const text = ({ id, body }: Row) => {
    seen.push(id);
    return typeof body?.html === 'string' ? body.html : undefined;
  };
  const [decisions] = await all(dedup(rows, { text, onMissing: 'reject', batch: 2 }));
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  expect(decisions.map(({ status }) => status)).toEqual([
    'kept',
    'rejected',
    'rejected',
    'rejected',
    'kept',
    'duplicate',
  ]);
  expect(decisions[1]?.reason).toBe('must have a text by the function text, got undefined');
});

test('without onMissing such a document ends the loop and is named; what the function throws passes', async () => {
  const refused = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
  const seen: number[] = [];
  const run = async () => {
    for await (const { index } of dedup(rows, { text: 'body.html', batch: 1 })) seen.push(index);
  };
  await expect(run()).rejects.toMatchObject({ ...refused, message: `docs[1] ${reason} undefined` });
  expect(seen).toEqual([0]);
  await expect(all(dedup([NEWS, 5] as never))).rejects.toMatchObject({
    ...refused,
    message: 'docs[1] must be a string, a Uint8Array or an object with such a text, got 5',
  });
  const own = new Error('mine');
  const text = () => {
    throw own;
  };
  await expect(all(dedup(rows, { text, onMissing: 'reject' }))).rejects.toBe(own);
});

test('a stream of nothing but rejected documents ends, and an empty text is none of them', async () => {
  const [decisions, summary] = await all(dedup([{}, 5, null] as never[], { onMissing: 'reject' }));
  expect(decisions.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  expect(summary).toMatchObject({ read: 3, kept: 0, duplicates: 0, rejected: 3 });
  const [empty] = await all(dedup(['', { text: '' }], { onMissing: 'reject' }));
  expect(empty.map(({ status }) => status)).toEqual(['kept', 'kept']);
});

test('fields are keys separated by dots', async () => {
  for (const option of ['text', 'key']) {
    for (const wrong of ['', '.', 'a.', 'a..b']) {
      await expect(all(dedup([NEWS], { [option]: wrong }))).rejects.toMatchObject({
        code: 'ERR_INVALID_ARG_VALUE',
        message: expect.stringMatching(`^${option} must be keys separated by dots`),
      });
    }
  }
});
