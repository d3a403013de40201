import { request } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { Index } from '..';
import { page } from '../ts/server/openapi';
import { ROUTES } from '../ts/server/routes';
import { Folder } from './cli-run';
import { type Reply, Served, TOKEN, textOf } from './served';

const folder = new Folder();
const NEWS = '望海港本月开通了一条直达南美西海岸的集装箱航线，单程二十三天。';
const COPY = `${NEWS.slice(0, -1)}！`;

/** A request whose headers are as they are given, `Host` too. */
function raw(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((done, failed) => {
    request(url, { headers }, (answer) => {
      answer.resume();
      done(answer.statusCode);
    })
      .on('error', failed)
      .end();
  });
}

describe('a served index', () => {
  let served: Served;
  beforeAll(async () => {
    served = await Served.open([folder.join('seen')]);
  });

  test('keeps one of two, finds, and takes away, and what it did is in the folder afterwards', async () => {
    expect((await served.post('/v1/check', { text: NEWS, key: 'a' })).json).toEqual({ id: 0 });
    const duplicate = { duplicateOf: 0, key: 'a', verified: true };
    expect((await served.post('/v1/check', { text: COPY, key: 'b' })).json).toMatchObject(
      duplicate,
    );
    const again = await served.post('/v1/check', { text: COPY, key: 'b' });
    expect(again.json).toMatchObject({ ...duplicate, repeated: true });
    const { json } = await served.post('/v1/search', { text: COPY });
    expect(json.matches).toMatchObject([{ id: 0, key: 'a', verified: true }]);
    const strict = { text: COPY, minSimilarity: 1 };
    expect((await served.post('/v1/search', strict)).json).toEqual({ matches: [] });
    expect((await served.post('/v1/delete', { key: 'b' })).json).toEqual({ deleted: false });
    expect((await served.post('/v1/delete', { key: 'a' })).json).toEqual({ deleted: true });
    expect((await served.post('/v1/delete', { id: 0 })).json).toEqual({ deleted: false });
    expect((await served.post('/v1/search', { text: COPY })).json).toEqual({ matches: [] });
    expect((await served.get('/v1/stats')).json).toMatchObject({ live: 0, keys: true });
  });

  test('check-many answers line by line what the library answers, and names what it cannot use', async () => {
    const texts = Array.from({ length: 300 }, (_, n) => textOf(n % 200));
    const index = new Index({ keys: true, onSameKey: 'repeat' });
    const items = texts.map((text, n) => ({ text, key: `m${n}` }));
    const own = index.checkAndAddMany(texts, { keys: items.map(({ key }) => key) });
    const answers = await served.many(items);
    const [first] = answers;
    const moved = [...own].map(({ id, duplicateOf, ...rest }) => ({
      ...(id !== undefined && { id: id + first.id }),
      ...(duplicateOf !== undefined && { duplicateOf: duplicateOf + first.id }),
      ...rest,
    }));
    expect(answers).toEqual(moved);
    expect(answers.filter(({ duplicateOf }) => duplicateOf !== undefined)).toHaveLength(100);
    const { text, status } = await served.lines(
      `{"text":"甲乙丙丁"}\n{"text":1}\nnot json\n{"txt":"x"}\n`,
    );
    expect(status).toBe(200);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ error }) => error?.message)).toEqual([
      undefined,
      'text must be a string',
      'line 3 is not JSON',
      'line 4 has a field that is not known; known are text, key, at',
    ]);
    // Nothing that could be decided: the status says so.
    expect((await served.lines('not json\n')).status).toBe(400);
    expect(await served.lines('')).toMatchObject({ status: 200, text: '' });
  });

  test('of copies that come at once over many connections exactly one is kept', async () => {
    const all = Array.from({ length: 200 }, (_, n) => 50_000 + (n >> 1));
    const answers = await Promise.all(
      all.map((n, at) => served.post('/v1/check', { text: textOf(n), key: `p${at}` })),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(answers.filter(({ json }) => json.duplicateOf === undefined)).toHaveLength(100);
  });

  test.each([
    ['GET', '/nothing', 404],
    ['GET', '/v1/check', 405],
    ['POST', '/health', 405],
    ['DELETE', '/v1/delete', 405],
  ])('%s %s is status %i', async (method, path, status) => {
    const answer = await served.ask(path, { method });
    expect(answer.status).toBe(status);
    expect(answer.json.error.code).toMatch(/not-found|wrong-method/);
  });

  test.each([
    ['/v1/check', [], 'the body must be an object'],
    ['/v1/check', {}, 'the body needs the field text'],
    ['/v1/check', { text: 'x', key: 7 }, 'key must be a string'],
    ['/v1/check', { text: 'x', at: -1 }, 'at must be a whole number from 0'],
    ['/v1/search', { text: 'x', limit: 0 }, 'limit must be a whole number from 1'],
    ['/v1/search', { text: 'x', minSimilarity: 2 }, 'minSimilarity must be a number from 0 to 1'],
    ['/v1/delete', {}, 'the body needs exactly one of id, key'],
    ['/v1/delete', { id: 1, key: 'x' }, 'the body needs exactly one of id, key'],
    ['/v1/delete', { id: 1.5 }, 'id must be a whole number'],
  ])('%s %j is refused with a reason', async (path, body, reason) => {
    const { status, json } = await served.post(path, body);
    expect({ status, code: json.error.code }).toEqual({ status: 400, code: 'invalid' });
    expect(json.error.message).toContain(reason);
  });

  test('a key that is too long is refused, and what came at the same time is not', async () => {
    const long = served.post('/v1/check', { text: 'x', key: 'k'.repeat(65_537) });
    const other = served.post('/v1/check', { text: textOf(70_000), key: 'short' });
    const { status, json } = await long;
    expect([status, json.error.message]).toEqual([
      400,
      expect.stringContaining('at most 65536 bytes'),
    ]);
    expect((await other).status).toBe(200);
  });

  test('a body that is no JSON, by its type or by its bytes, is refused', async () => {
    const types = ['text/plain', 'application/x-www-form-urlencoded', ''];
    for (const type of types) {
      const headers = { 'Content-Type': type };
      const body = '{"text":"x"}';
      const { status } = await served.ask('/v1/check', { method: 'POST', body, headers });
      expect([type, status]).toEqual([type, 415]);
    }
    const headers = { 'Content-Type': 'application/json; charset=utf-8' };
    const torn = await served.ask('/v1/check', { method: 'POST', body: '{"text":', headers });
    expect([torn.status, torn.json.error.message]).toEqual([400, 'the body is not JSON']);
    const body = Buffer.from([0x7b, 0xff, 0x7d]);
    const bytes = await served.ask('/v1/check', { method: 'POST', body, headers });
    expect([bytes.status, bytes.json.error.message]).toEqual([400, 'the body is not UTF-8']);
  });

  test.each([
    ['none', ''],
    ['a wrong one', `Bearer ${TOKEN}x`],
    ['the beginning', `Bearer ${TOKEN.slice(0, -1)}`],
    ['another scheme', `Basic ${TOKEN}`],
    ['the token alone', TOKEN],
  ])('with a token that is %s every route but /health is closed', async (_name, Authorization) => {
    for (const { method, path, open } of ROUTES) {
      const { status } = await served.ask(path, { method, headers: { Authorization } });
      expect([path, status]).toEqual([path, open ? 200 : 401]);
    }
  });

  test('requests of web pages are refused, by Origin, by what the browser says, and by Host', async () => {
    const own = new URL(served.url).host;
    const Authorization = `Bearer ${TOKEN}`;
    const status = (headers: Record<string, string>) =>
      raw(`${served.url}/v1/stats`, { Authorization, ...headers });
    expect(await status({})).toBe(200);
    expect(await status({ Host: `localhost:${new URL(served.url).port}` })).toBe(200);
    expect(await status({ Host: '[::1]' })).toBe(200);
    expect(await status({ Origin: 'https://page.example' })).toBe(403);
    expect(await status({ Origin: `http://${own}` })).toBe(403);
    expect(await status({ Origin: 'null' })).toBe(403);
    expect(await status({ 'Sec-Fetch-Site': 'cross-site' })).toBe(403);
    expect(await status({ Host: 'page.example' })).toBe(421);
    expect(await status({ Host: '10.1.2.3' })).toBe(421);
    const asked = { 'Access-Control-Request-Method': 'POST', Origin: 'https://page.example' };
    const preflight = await served.ask('/v1/check', { method: 'OPTIONS', headers: asked });
    expect(preflight.status).toBe(403);
    expect([...preflight.headers.keys()].filter((name) => /^access-control/.test(name))).toEqual(
      [],
    );
  });

  test('neither metrics nor messages hold a text or a key', async () => {
    const secret = '绝密文字绝密文字';
    await served.post('/v1/check', { text: secret, key: secret });
    await served.post('/v1/check', { text: secret, [secret]: 1 });
    await served.lines(`{"text":"${secret}","at":9e15}\n{"${secret}`);
    await served.get(`/v1/${encodeURIComponent(secret)}`);
    const { text } = await served.get('/metrics');
    expect(text).not.toContain('绝密');
    expect(text).not.toContain('%E7');
    expect(text).toMatch(/^simhash_ready 1$/m);
    expect(text).toMatch(/^simhash_requests_total\{route="\/v1\/check",status="200"\} \d+$/m);
    expect(text).toMatch(/^simhash_checked_total\{outcome="kept"\} [1-9]\d*$/m);
    expect(text).toMatch(/^simhash_request_seconds_bucket\{route="\/v1\/check",le="\+Inf"\} \d+$/m);
    // The form of Prometheus: a name, labels, a number.
    const sample = /^[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [\d.e+-]+$/;
    for (const line of text.trimEnd().split('\n')) {
      expect(line.startsWith('# ') || sample.test(line), line).toBe(true);
    }
  });

  test('the page of the API has the routes of the table and no other', async () => {
    const { json } = await served.get('/openapi.json');
    expect(json).toEqual(JSON.parse(JSON.stringify(page(json.info.version))));
    expect(Object.keys(json.paths)).toEqual(ROUTES.map(({ path }) => path));
    expect(
      json.paths['/v1/check'].post.requestBody.content['application/json'].schema,
    ).toMatchObject({ required: ['text'], additionalProperties: false });
    expect(json.paths['/health'].get.security).toEqual([]);
  });

  test('every answer is one that the page has, of the types that it says', async () => {
    const { json } = await served.get('/openapi.json');
    const at = json.components.schemas;
    // biome-ignore lint/suspicious/noExplicitAny: a page
    const wrong = (value: any, schema: any, name: string): string[] => {
      if (schema.$ref) return wrong(value, at[schema.$ref.split('/').at(-1)], name);
      const { type, properties = {}, required = [], items } = schema;
      const is = Array.isArray(value) ? 'array' : typeof value;
      if (is !== (type === 'integer' ? 'number' : type)) return [`${name} is no ${type}`];
      if (type === 'integer' && !Number.isInteger(value)) return [`${name} is no integer`];
      const missing = required.filter((key: string) => !(key in value));
      return [
        ...missing.map((key: string) => `${name}.${key} is missing`),
        ...Object.keys(properties)
          .filter((key) => key in value)
          .flatMap((key) => wrong(value[key], properties[key], `${name}.${key}`)),
        ...(items ? value.flatMap((one: unknown) => wrong(one, items, `${name}[]`)) : []),
      ];
    };
    const check = (method: string, path: string, { status, headers, text }: Reply) => {
      const said = json.paths[path][method].responses[status];
      expect(said, `${path} ${status}`).toBeDefined();
      const [type = ''] = (headers.get('content-type') ?? '').split(';');
      const [schema] = Object.entries(said.content).flatMap(([name, one]) =>
        name.startsWith(type) ? [(one as { schema: object }).schema] : [],
      );
      const values = type === 'application/json' ? [text] : text.trimEnd().split('\n');
      for (const one of type.startsWith('text/') ? [] : values) {
        expect(wrong(JSON.parse(one), schema, path)).toEqual([]);
      }
      expect(said.headers?.['Retry-After'] !== undefined).toBe(headers.has('retry-after'));
      return `${path} ${status}`;
    };
    const seen = new Set<string>();
    for (const path of ['/health', '/ready', '/metrics', '/openapi.json', '/v1/stats']) {
      seen.add(check('get', path, await served.get(path)));
      seen.add(check('get', path, await served.ask(path, { headers: { Origin: 'http://x' } })));
      if (path === '/health') continue;
      seen.add(check('get', path, await served.ask(path, { headers: { Authorization: '' } })));
    }
    const long = { text: 'x'.repeat(2 << 20) };
    for (const [path, ...bodies] of [
      ['/v1/check', { text: NEWS, key: 'page' }, { text: COPY, key: 'other' }, {}, long],
      ['/v1/search', { text: NEWS }, {}, long],
      ['/v1/delete', { key: 'page' }, {}, long],
    ] as const) {
      for (const body of bodies) seen.add(check('post', path, await served.post(path, body)));
    }
    for (const lines of ['{"text":"a"}\n{}', 'x', '{"text":"a"}\n'.repeat(20_001)]) {
      seen.add(check('post', '/v1/check-many', await served.lines(lines)));
    }
    expect([...seen].filter((one) => / (200|400|401|403|413)$/.test(one))).toHaveLength(26);
    // Every route may fail, and but for health every one is refused while there is no index or at the end.
    for (const [path, methods] of Object.entries(json.paths)) {
      for (const { responses } of Object.values(methods as never) as { responses: object }[]) {
        expect(Object.keys(responses)).toContain('500');
        expect(Object.keys(responses).includes('503')).toBe(path !== '/health');
        if (path.startsWith('/v1/') && path !== '/v1/stats') {
          expect(Object.keys(responses)).toContain('429');
        }
      }
    }
    const opening = await Served.start([folder.join('opens'), '--log', 'redis://127.0.0.1:1']);
    for (const path of ['/ready', '/v1/stats']) {
      const reply = await opening.get(path);
      expect([path, reply.status]).toEqual([path, 503]);
      check('get', path, reply);
    }
    expect((await opening.stop()).status).toBe(0);
  });

  test('SIGTERM ends it with status 0, and the folder can be opened', async () => {
    const { live } = (await served.get('/v1/stats')).json;
    const { status, stderr } = await served.stop();
    expect({ status, last: stderr.trimEnd().split('\n').at(-1) }).toEqual({
      status: 0,
      last: 'ended; the disk has everything',
    });
    expect(stderr).not.toContain('绝密');
    const index = await Index.open(folder.join('seen'));
    expect(index.size).toBe(live);
    await index.close();
  });
});

describe('what it is started with', () => {
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const child = folder.start(['serve', ...args, '--port', '0'], { SIMHASH_TOKEN: TOKEN, ...env });
    return new Promise<{ status: number | null; stderr: string }>((done) => {
      let stderr = '';
      child.stderr?.on('data', (chunk) => {
        stderr += chunk;
      });
      child.on('close', (status) => done({ status, stderr }));
    });
  };

  test('without a token it makes one and shows it once; beyond this machine it wants a given one', async () => {
    const served = await Served.start([folder.join('made'), '-q'], { SIMHASH_TOKEN: undefined });
    const { stderr } = await served.stop();
    expect(stderr.match(/token, shown this once: [\w-]{43}\n/g)).toHaveLength(1);
    const open = await run(['x', '--host', '0.0.0.0'], { SIMHASH_TOKEN: undefined });
    expect(open.status).toBe(2);
    expect(open.stderr).toContain('needs a token of your own');
    expect(folder.names()).not.toContain('x');
  });

  test('a token comes from a file or the environment, never from an argument', async () => {
    folder.write('token.txt', `${TOKEN}-of-a-file\nanother line\n`);
    const served = await Served.start([
      folder.join('filed'),
      '--token-file',
      folder.join('token.txt'),
    ]);
    const headers = { Authorization: `Bearer ${TOKEN}-of-a-file` };
    expect((await served.ask('/metrics', { headers })).status).toBe(200);
    expect((await served.get('/metrics')).status).toBe(401);
    await served.stop();
    const typed = await run(['x', '--token', TOKEN]);
    expect([typed.status, typed.stderr]).toEqual([2, expect.stringContaining('--token')]);
    for (const token of ['short', 'with spaces in the token']) {
      const { status, stderr } = await run(['x'], { SIMHASH_TOKEN: token });
      expect([status, stderr]).toEqual([2, expect.stringContaining('16 or more visible')]);
      expect(stderr).not.toContain(token);
    }
    expect((await run(['x', '--token-file', 'nowhere'])).status).toBe(3);
  });

  test.each([
    [['--max-age', '2 days'], 2, '--max-age must be a length of time'],
    [['--max-line', '32M'], 2, '--max-line must be at most --max-body'],
    [['--port', '70000'], 2, '--port'],
    [['--on-same-key', 'repeat', '--no-keys'], 2, 'keys'],
    [['--durability', 'commit', '--flush-interval', '1s'], 2, '--flush-interval must be left out'],
  ])('%j is refused, and nothing is made', async (args, status, reason) => {
    const ended = await run(['refused', ...args]);
    expect(ended.status, ended.stderr).toBe(status);
    expect(ended.stderr).toContain(reason);
    expect(folder.names()).not.toContain('refused');
  });

  test('an index is opened as it was made: its method, its keys, its window', async () => {
    const made = await Index.open(folder.join('own'), { method: 'exact', window: { maxCount: 2 } });
    made.add('甲');
    await made.close();
    const served = await Served.open([folder.join('own')]);
    expect((await served.get('/v1/stats')).json).toMatchObject({ method: 'exact', keys: false });
    expect((await served.post('/v1/check', { text: '甲' })).json).toMatchObject({ duplicateOf: 0 });
    const keyed = await served.post('/v1/check', { text: '乙', key: 'k' });
    expect([keyed.status, keyed.json.error.message]).toEqual([400, 'this index keeps no keys']);
    const ahead = { text: '丙', at: Date.now() + 10 * 86_400_000 };
    const lines = await served.many([{ text: '丁' }, ahead, { text: '戊', at: Date.now() }]);
    expect(lines.map(({ id, error }) => id ?? error.code)).toEqual([1, 'invalid', 2]);
    await served.stop();
    const other = await run([folder.join('own'), '--method', 'simhash']);
    expect([other.status, other.stderr]).toEqual([4, expect.stringContaining('method')]);
  });

  test('a folder that is written to by another process is an error that names it', async () => {
    const made = await Index.open(folder.join('locked'));
    const { status, stderr } = await run([folder.join('locked')]);
    expect([status, stderr]).toEqual([3, expect.stringContaining('locked')]);
    await made.close();
  });
});
