/** Where a collection is, and texts that say it without saying who may read it. */
import { readFileSync } from 'node:fs';
import { SimHashError, typeError } from '../../errors';
import { decoded, unnamed } from '../url';

/** A collection on a server. */
export interface Address {
  /** For the driver: without the collection. */
  readonly uri: string;
  readonly database: string;
  readonly collection: string;
}

const FORM = 'mongodb://HOST/DATABASE.COLLECTION';

/** Whether a text names a collection rather than a file. */
export const isAddress = (text: string): boolean => /^mongodb(\+srv)?:\/\//i.test(text);

/**
 * The parts of `mongodb://HOST/DATABASE.COLLECTION?OPTIONS`; the name of the collection is what follows the first dot. Without a host, as
 * `mongodb:///DATABASE.COLLECTION`, the server is that of the environment: `MONGODB_URI`, or the first line of the file that
 * `MONGODB_URI_FILE` names, so that no password stands on a command line.
 *
 * @throws TypeError where a part is missing, or signs of user and password are not escaped, without a word of these; SimHashError ERR_SIMHASH_INPUT
 *   where the file cannot be read.
 */
export function addressOf(text: string, name: string, env = process.env): Address {
  const parts = /^(mongodb(?:\+srv)?:\/\/)([^/?]*)\/([^?]*)(\?.*)?$/i.exec(text);
  const [, scheme, host, path = '', query = ''] = parts ?? [];
  if (`${path}${query}`.includes('@')) {
    const escaped = 'in user and password, and @ anywhere, must be escaped, as %2F, %3F and %40';
    throw invalid(`${name} must be ${FORM}: / and ? ${escaped}`);
  }
  if (host !== undefined) refuseUnescaped(host, name);
  const dot = path.indexOf('.');
  if (parts === null || dot <= 0 || dot === path.length - 1) {
    throw invalid(`${name} must be ${FORM}, got ${unnamed(text)}`);
  }
  const [database, collection] = [path.slice(0, dot), path.slice(dot + 1)].map(decoded) as [
    string,
    string,
  ];
  if (host !== '') {
    const uri = `${scheme}${host}/${encodeURIComponent(database)}${query}`;
    return { uri, database, collection };
  }
  if (query !== '') throw invalid(`${name} names no host, and so takes no options`);
  const { MONGODB_URI, MONGODB_URI_FILE } = env;
  if (MONGODB_URI) return { uri: server(MONGODB_URI, 'MONGODB_URI'), database, collection };
  if (!MONGODB_URI_FILE) {
    throw invalid(`${name} names no host, and neither MONGODB_URI nor MONGODB_URI_FILE is set`);
  }
  const first = firstLine(MONGODB_URI_FILE);
  return { uri: server(first, 'the first line of MONGODB_URI_FILE'), database, collection };
}

/** The address of a server that the environment names. */
function server(given: string, name: string): string {
  const uri = given.trim();
  const [, host, rest = ''] = /^mongodb(?:\+srv)?:\/\/([^/?]+)(.*)$/is.exec(uri) ?? [];
  // What has another form may be a password from its first sign to its last.
  if (host === undefined) throw invalid(`${name} must be mongodb://HOST, it has another form`);
  if (rest.includes('@')) throw unescaped(name);
  refuseUnescaped(host, name);
  return uri;
}

/**
 * Refuses an address whose user or password was not escaped: where it ends nobody can say, and the driver would ask a server for the name of what it
 * takes for the host, or print it. What stands before the path, as far as the last `@`, is user and password.
 */
function refuseUnescaped(host: string, name: string): void {
  const [user = '', ...more] = host.split('@');
  const isUser =
    more.length === 0 ||
    /^[^\s'"#[\]%:]*(?:%[0-9a-f]{2}[^\s'"#[\]%:]*)*$/i.test(user.replace(':', ''));
  if (more.length > 1 || /[\s'"]/.test(host) || !isUser) {
    throw unescaped(name);
  }
  if (more[0] === '') throw invalid(`${name} has a user and no host behind it`);
}

function unescaped(name: string): TypeError {
  const signs = '@ as %40, : as %3A, / as %2F, ? as %3F, % as %25, a space as %20, quotes too';
  return invalid(`${name}: signs in user and password must be escaped (percent-encoded): ${signs}`);
}

function firstLine(file: string): string {
  try {
    return readFileSync(file, 'utf8').split('\n', 1)[0]?.trim() ?? '';
  } catch (cause) {
    // The message of the system names the file.
    const message = `cannot read MONGODB_URI_FILE: ${(cause as Error).message}`;
    throw new SimHashError('ERR_SIMHASH_INPUT', message, { cause });
  }
}

function invalid(message: string): TypeError {
  return typeError(message, 'ERR_INVALID_ARG_VALUE');
}
