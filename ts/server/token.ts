/** The token that a request must bring: where it comes from, and how it is compared. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SimHashError, typeError } from '../errors';

export interface Token {
  readonly value: string;
  /** Nobody gave one: it was made up here, and has to be told. */
  readonly isGenerated: boolean;
}

/** Characters of the shortest token. */
const SHORTEST = 16;

/**
 * The token of a file, else that of the environment (`SIMHASH_TOKEN`, or the file that `SIMHASH_TOKEN_FILE` names), else a new one. Never
 * from an argument: whoever lists processes sees those.
 */
export function tokenOf(file: string | undefined, env = process.env): Token {
  const { SIMHASH_TOKEN, SIMHASH_TOKEN_FILE } = env;
  const path = file ?? (SIMHASH_TOKEN === undefined ? SIMHASH_TOKEN_FILE : undefined);
  if (path !== undefined) return { value: sound(lineOf(path), path), isGenerated: false };
  if (SIMHASH_TOKEN !== undefined) {
    return { value: sound(SIMHASH_TOKEN, 'SIMHASH_TOKEN'), isGenerated: false };
  }
  return { value: randomBytes(32).toString('base64url'), isGenerated: true };
}

function lineOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').split('\n', 1)[0]?.trim() ?? '';
  } catch (cause) {
    const message = `cannot read the token in ${path}: ${(cause as Error).message}`;
    throw new SimHashError('ERR_SIMHASH_INPUT', message, { cause });
  }
}

function sound(value: string, where: string): string {
  if (value.length >= SHORTEST && /^[\x21-\x7e]+$/.test(value)) return value;
  const must = `must be ${SHORTEST} or more visible characters of ASCII, without spaces`;
  throw typeError(`the token of ${where} ${must}, got ${value.length}`, 'ERR_INVALID_ARG_VALUE');
}

/** Says whether the value of `Authorization` brings the token; how long that takes tells nothing of it. */
export function comparing({ value }: Token): (authorization: string | undefined) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const wanted = digest(value);
  return (authorization = '') => {
    const [, given = ''] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    return timingSafeEqual(digest(given), wanted);
  };
}
