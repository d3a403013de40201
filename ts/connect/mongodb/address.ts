/** Where a collection is, and texts that say it without saying who may read it. */
import { readFileSync } from 'node:fs';
import { typeError } from '../../errors';
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
 * @throws TypeError where a part is missing.
 */
export function addressOf(text: string, name: string, env = process.env): Address {
  const parts = /^(mongodb(?:\+srv)?:\/\/)([^/?]*)\/([^?]*)(\?.*)?$/i.exec(text);
  const [, scheme, host, path = '', query = ''] = parts ?? [];
  if (`${path}${query}`.includes('@')) {
    const escaped = 'in user and password, and @ anywhere, must be escaped, as %2F, %3F and %40';
    throw invalid(`${name} must be ${FORM}: / and ? ${escaped}`);
  }
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
  const uri = MONGODB_URI ?? (MONGODB_URI_FILE && firstLine(MONGODB_URI_FILE));
  if (!uri) {
    throw invalid(`${name} names no host, and neither MONGODB_URI nor MONGODB_URI_FILE is set`);
  }
  return { uri, database, collection };
}

function firstLine(file: string): string {
  return readFileSync(file, 'utf8').split('\n', 1)[0]?.trim() ?? '';
}

function invalid(message: string): TypeError {
  return typeError(message, 'ERR_INVALID_ARG_VALUE');
}
