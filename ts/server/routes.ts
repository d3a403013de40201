/**
 * The routes: what each takes, what it gives, and what it does. Requests are checked by this table, and the page of the API is made of it.
 */
import type { Decided, Engine, Item, Named } from './engine';
import type { Limits } from './limits';
import { invalid, problemOf } from './problem';
import type { ObjectSchema, Schema } from './schema';

/** What a route is given. */
export interface Call {
  /** The index; absent only where the route does without it. */
  readonly engine: Engine;
  readonly limits: Limits;
  /** Why nothing is taken now; empty: documents are taken. */
  readonly reasons: () => Promise<readonly string[]>;
  /** The page of the API, and the metrics. */
  readonly page: () => object;
  readonly metrics: () => Promise<string>;
  /** Counts outcomes for the metrics. */
  readonly counted: (decided: readonly Decided[]) => void;
}

/** What a route answers with. */
export interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body: string;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** It is answered without a token. */
  readonly open?: true;
  /** It is answered while the index is not open. */
  readonly early?: true;
  /** The body: one value, or one for each line. */
  readonly takes?: { readonly many: boolean; readonly schema: ObjectSchema };
  readonly gives: {
    readonly type: string;
    readonly many?: boolean;
    readonly schema: Schema;
    /** A status that is no success, and is answered with the same schema. */
    readonly also?: number;
  };
  /** Statuses that are no success, beside those that every route has. */
  readonly fails: readonly number[];
  /** `body` has been checked by the schema. Of a route of many lines it has a value, or the reason why there is none, for each. */
  readonly run: (call: Call, body: unknown) => Promise<Answer>;
}

export const JSON_TYPE = 'application/json';
export const LINES_TYPE = 'application/x-ndjson';
const TEXT_TYPE = 'text/plain; version=0.0.4';

const id: Schema = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'the number of a document; numbers grow by one and are never used again',
};
const key: Schema = {
  type: 'string',
  minLength: 1,
  'x-maxBytes': 65_536,
  description:
    'the name that the caller has for the document, at most 65,536 bytes of UTF-8; a key that comes again is answered as the index says (onSameKey)',
};
const text: Schema = { type: 'string', description: 'the text' };
const similarity: Schema = {
  type: 'number',
  minimum: 0,
  maximum: 1,
  description:
    'similarity of the two texts; of a match that was not verified an estimate, or absent',
};
const how = {
  similarity,
  verified: { type: 'boolean', description: 'whether the two texts were compared' },
  distance: { type: 'integer', minimum: 0, description: 'of method simhash: bits that differ' },
  bands: { type: 'integer', minimum: 0, description: 'of method minhash: bands that are equal' },
  shared: { type: 'integer', minimum: 0, description: 'of method sentences: sentences in common' },
} as const satisfies Record<string, Schema>;
const truncated: Schema = {
  type: 'boolean',
  description: 'true: a limit left candidates out, and a match may have been missed',
};

const item: ObjectSchema = {
  type: 'object',
  description: 'a document',
  properties: {
    text,
    key,
    at: {
      type: 'integer',
      minimum: 0,
      description:
        'its time in milliseconds since 1970, for an index with a window; without it now',
    },
  },
  required: ['text'],
  additionalProperties: false,
};

const outcome: ObjectSchema = {
  type: 'object',
  description: 'a document without duplicateOf is new and was added; one with it was not',
  properties: {
    id: { ...id, description: 'under which it was added' },
    duplicateOf: { ...id, description: 'the id of the document that it duplicates' },
    key: { ...key, description: 'the key of the document that it duplicates' },
    ...how,
    truncated,
    repeated: {
      type: 'boolean',
      description: 'true: this key was checked before, and this is its answer',
    },
    error: {
      type: 'object',
      description: 'why a line of check-many has no outcome',
      properties: {
        code: { type: 'string', description: 'stable' },
        message: { type: 'string', description: 'for people' },
      },
      required: ['code', 'message'],
    },
  },
};

const asked: ObjectSchema = {
  type: 'object',
  description: 'a text to be looked for',
  properties: {
    text,
    limit: {
      type: 'integer',
      minimum: 1,
      description: 'most matches, the best first; never more than the server allows',
    },
    minSimilarity: { ...similarity, description: 'least similarity; without it that of the index' },
  },
  required: ['text'],
  additionalProperties: false,
};

const matches: ObjectSchema = {
  type: 'object',
  description: 'documents near the text, the most similar first',
  properties: {
    matches: {
      type: 'array',
      description: 'the documents',
      items: {
        type: 'object',
        description: 'a document',
        properties: { id, key, ...how },
        required: ['id'],
      },
    },
    truncated: { ...truncated, description: 'true: a limit left matches out' },
  },
  required: ['matches'],
};

const named: ObjectSchema = {
  type: 'object',
  description: 'the document: its id, or its key',
  properties: { id, key },
  oneOf: [{ required: ['id'] }, { required: ['key'] }],
  additionalProperties: false,
};

const count = (description: string): Schema => ({ type: 'integer', minimum: 0, description });

const readiness: ObjectSchema = {
  type: 'object',
  description: 'whether documents are taken',
  properties: {
    ready: { type: 'boolean', description: 'true: they are' },
    reasons: {
      type: 'array',
      description: 'why they are not; empty where they are',
      items: { type: 'string', description: 'a word that is stable' },
    },
  },
  required: ['ready', 'reasons'],
};

/** Names are those of the library; there are more, by method. */
const stats: ObjectSchema = {
  type: 'object',
  description: 'counts, bytes, and how the index compares',
  properties: {
    method: { type: 'string', description: 'how documents are compared' },
    live: count('documents'),
    bytes: count('bytes of memory'),
    durable: {
      type: 'object',
      description: 'what is on the disk, of an index of this server alone',
      properties: {
        checkpointBytes: count('bytes of the checkpoint'),
        logBytes: count('bytes of the changes since'),
        logBytesLimit: count('bytes of changes for which the next checkpoint is written'),
        tornBytes: count('bytes of an incomplete last change that opening cut off'),
        checkpointFailed: {
          type: 'boolean',
          description: 'true: the last checkpoint was not written',
        },
      },
    },
    shared: {
      type: 'object',
      description: 'how far the log of a shared window was applied',
      properties: {
        state: { type: 'string', description: 'what the service is doing' },
        position: count('entries that were applied'),
        behind: count('entries that were not applied yet'),
      },
      required: ['state', 'position', 'behind'],
    },
  },
};

/** What a check answers of one item. */
export const sayable = (decided: Decided): object =>
  decided instanceof Error ? problemOf(decided).toJSON() : decided;

const json = (value: unknown, status = 200): Answer => ({ status, body: JSON.stringify(value) });

/** Whether an error is none of a document: the same one may be decided later. */
function isOfServer(error: Error): boolean {
  const { status } = problemOf(error);
  return status === 429 || status >= 500;
}

/** What an index cannot take of an item, before anything is asked. */
function refused(item: Item, { takes }: Engine): Error | undefined {
  if (item.key !== undefined && !takes.keys) return invalid('this index keeps no keys');
  if (item.at !== undefined && !takes.times) {
    return invalid('at must be left out: times come from the log');
  }
  return undefined;
}

/** Checks what can be checked; the others keep their places with the reason why they cannot. */
async function checked(call: Call, lines: readonly (Item | Error)[]): Promise<readonly Decided[]> {
  const { engine } = call;
  const given = lines.map((line) =>
    line instanceof Error ? line : (refused(line, engine) ?? line),
  );
  const items = given.filter((line): line is Item => !(line instanceof Error));
  const decided = (await engine.check(items)).values();
  const outcomes = given.map((line) =>
    line instanceof Error ? line : (decided.next().value as Decided),
  );
  call.counted(outcomes);
  return outcomes;
}

export const ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/health',
    summary: 'Whether the process answers',
    description: 'Needs no token and says nothing else.',
    open: true,
    early: true,
    gives: {
      type: JSON_TYPE,
      schema: {
        type: 'object',
        description: 'the process answers',
        properties: { status: { type: 'string', description: 'ok' } },
        required: ['status'],
      },
    },
    fails: [],
    run: async () => json({ status: 'ok' }),
  },
  {
    method: 'GET',
    path: '/ready',
    summary: 'Whether documents are taken',
    description:
      'Status 200: they are. Status 503: not now, and reasons says why: opening, draining, disk-full (searches go on), checkpoint-failed, merge-failed, cannot-write, defect; where the window is shared also catching-up, log-lost, log-broken.',
    early: true,
    gives: { type: JSON_TYPE, schema: readiness, also: 503 },
    fails: [],
    run: async ({ reasons }) => {
      const all = await reasons();
      return json({ ready: all.length === 0, reasons: all }, all.length === 0 ? 200 : 503);
    },
  },
  {
    method: 'GET',
    path: '/metrics',
    summary: 'Counters in the text form of Prometheus',
    description: 'No text and no key of a document is in them.',
    early: true,
    gives: { type: TEXT_TYPE, schema: { type: 'string', description: 'the metrics' } },
    fails: [],
    run: async ({ metrics }) => ({ type: TEXT_TYPE, body: await metrics() }),
  },
  {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This page',
    description: 'Made of the table by which requests are checked.',
    early: true,
    gives: {
      type: JSON_TYPE,
      schema: {
        type: 'object',
        description: 'OpenAPI 3.1',
        properties: {
          openapi: { type: 'string', description: 'its version' },
          info: { type: 'object', description: 'title and version', properties: {} },
          paths: { type: 'object', description: 'the routes', properties: {} },
        },
        required: ['openapi', 'info', 'paths'],
      },
    },
    fails: [],
    run: async ({ page }) => json(page()),
  },
  {
    method: 'GET',
    path: '/v1/stats',
    summary: 'Counts and bytes of the index',
    description: 'As stats() of the library says them.',
    gives: { type: JSON_TYPE, schema: stats },
    fails: [],
    run: async ({ engine }) => json(engine.stats()),
  },
  {
    method: 'POST',
    path: '/v1/check',
    summary: 'Add a document unless it is there already',
    description:
      'Looking, comparing and adding are one step: of two near-duplicates that come at once exactly one is kept. Answered when the change counts as the durability of the index says.',
    takes: { many: false, schema: item },
    gives: { type: JSON_TYPE, schema: outcome },
    fails: [409, 429, 503, 504, 507],
    run: async (call, body) => {
      const [decided] = await checked(call, [body as Item]);
      if (decided instanceof Error) throw decided;
      return json(decided);
    },
  },
  {
    method: 'POST',
    path: '/v1/check-many',
    summary: 'Check many documents, a line for each',
    description:
      'As if check were called for every line in order. A line for each comes back, in the same order; one that cannot be used has an error in its place, and the others are decided. Where no line could be decided the status says why: first for what has a line refused now and not later (429, 503, 504, 507), so that all of them are sent again, and only then what is wrong with the first line.',
    takes: { many: true, schema: item },
    gives: { type: LINES_TYPE, many: true, schema: outcome },
    fails: [409, 429, 503, 504, 507],
    run: async (call, body) => {
      const outcomes = await checked(call, body as readonly (Item | Error)[]);
      const errors = outcomes.filter((one) => one instanceof Error);
      if (errors.length > 0 && errors.length === outcomes.length) {
        throw errors.find(isOfServer) ?? errors[0];
      }
      const lines = outcomes.map((one) => `${JSON.stringify(sayable(one))}\n`);
      return { type: LINES_TYPE, body: lines.join('') };
    },
  },
  {
    method: 'POST',
    path: '/v1/search',
    summary: 'The documents near a text',
    description: 'Nothing is changed.',
    takes: { many: false, schema: asked },
    gives: { type: JSON_TYPE, schema: matches },
    fails: [503],
    run: async ({ engine, limits }, body) => {
      const { text, limit, minSimilarity } = body as {
        text: string;
        limit?: number;
        minSimilarity?: number;
      };
      const most = Math.min(limit ?? limits.results, limits.results);
      const least = minSimilarity === undefined ? {} : { minSimilarity };
      const found = await engine.search(text, { limit: most, ...least });
      return json({ matches: [...found], ...(found.truncated && { truncated: true }) });
    },
  },
  {
    method: 'POST',
    path: '/v1/delete',
    summary: 'Take a document away',
    description: 'By its id, or by its key: then the latest document that has it.',
    takes: { many: false, schema: named },
    gives: {
      type: JSON_TYPE,
      schema: {
        type: 'object',
        description: 'what was done',
        properties: {
          deleted: { type: 'boolean', description: 'false: there was no such document' },
        },
        required: ['deleted'],
      },
    },
    fails: [429, 503, 504, 507],
    run: async ({ engine }, body) => json({ deleted: await engine.delete(body as Named) }),
  },
];
