/** Keys that UTF-8 cannot hold, as JSON can write them: refused alone, and what stands beside them is decided. */
import { expect, test } from 'vitest';
import { given } from '../ts/connect/log/items';
import { Folder } from './cli-run';
import { Served, textOf } from './served';

const folder = new Folder();

test('a served index refuses them and goes on', async () => {
  const served = await Served.open([folder.join('ill')]);
  const [one, other] = ['a\ud800', 'a\udc00'];
  const refused = await served.post('/v1/check', { text: textOf(1), key: one });
  expect(refused.status).toBe(400);
  expect(refused.json.error.message).toContain('must be well-formed Unicode');
  expect((await served.post('/v1/delete', { key: other })).status).toBe(400);
  const answers = await served.many([
    { text: textOf(1), key: 'a' },
    { text: textOf(2), key: one },
    { text: textOf(3), key: other },
    { text: textOf(4), key: 'b' },
  ]);
  expect(answers).toMatchObject([{ id: 0 }, { error: {} }, { error: {} }, { id: 1 }]);
  expect((await served.get('/v1/stats')).json).toMatchObject({ live: 2 });
});

test('a shared window refuses them before anything is sent', () => {
  expect(() => given(['x', 'y'], ['a', 'a\ud800'])).toThrow('keys[1] must be well-formed Unicode');
});
