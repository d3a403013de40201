/** The page of the API (OpenAPI 3.1), made of the table of routes. */
import { JSON_TYPE, LINES_TYPE, ROUTES, type Route } from './routes';
import type { ObjectSchema } from './schema';

const problem: ObjectSchema = {
  type: 'object',
  description: 'why there is no other answer',
  properties: {
    error: {
      type: 'object',
      description: 'the reason',
      properties: {
        code: { type: 'string', description: 'stable, for programs' },
        message: { type: 'string', description: 'for people' },
      },
      required: ['code', 'message'],
    },
  },
  required: ['error'],
};

const SAID: Readonly<Record<number, string>> = {
  400: 'the request is not as it must be',
  401: 'the token is missing or wrong',
  403: 'the request comes from a web page',
  408: 'the request did not come in time',
  409: 'the key is that of a live document, in an index with onSameKey error',
  413: 'the request is larger than what is taken',
  415: 'the body is no JSON',
  421: 'the Host is not one of this server',
  429: 'there is no room now; Retry-After says when to ask again',
  500: 'the server failed; its log names the error',
  503: 'nothing can be answered now; Retry-After says when to ask again',
  504: 'the log did not answer in time: the outcome is unknown; ask again with the same key',
  507: 'there is no room for another document',
};

/** Bodies are said to be of these types. */
const typeOf = (many: boolean) => (many ? LINES_TYPE : JSON_TYPE);

/** Answers that say when to ask again. */
const LATER: readonly number[] = [429, 503];
const retryAfter = {
  'Retry-After': { description: 'seconds', schema: { type: 'integer', minimum: 1 } },
};

/** Statuses that are no success. Too many bodies at once are refused, and a server that is about to end says only that. */
function failuresOf({ open, takes, gives, fails }: Route): number[] {
  const all = [
    ...[403, 421, 500],
    ...(open ? [] : [401, 503]),
    ...(takes ? [400, 408, 413, 415, 429] : []),
    ...fails,
  ];
  return [...new Set(all)].filter((status) => status !== gives.also).sort();
}

function operation(route: Route): object {
  const { summary, description, open, takes, gives } = route;
  const content = { [gives.type]: { schema: gives.schema } };
  const lines = gives.many ? 'a line for each line of the request' : 'the answer';
  const failures: [string, object][] = failuresOf(route).map((status) => [
    String(status),
    {
      description: SAID[status] ?? 'an error',
      ...(LATER.includes(status) && { headers: retryAfter }),
      content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  ]);
  const { also } = gives;
  if (also !== undefined)
    failures.push([String(also), { description: 'no; the reasons say why', content }]);
  return {
    summary,
    description,
    ...(open && { security: [] }),
    ...(takes && {
      requestBody: {
        required: true,
        content: { [typeOf(takes.many)]: { schema: takes.schema } },
      },
    }),
    responses: { 200: { description: lines, content }, ...Object.fromEntries(failures) },
  };
}

/** The page. */
export function page(version: string): object {
  const paths = Object.fromEntries(
    ROUTES.map((route) => [route.path, { [route.method.toLowerCase()]: operation(route) }]),
  );
  return {
    openapi: '3.1.0',
    info: { title: 'simhash-native serve', version },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: problem },
    },
  };
}
