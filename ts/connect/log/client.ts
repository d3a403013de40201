/** What every log takes for the client that it is reached by. */
import * as check from '../../options';

export const CLIENT = {
  client: (value: unknown, name: string): object => {
    if (typeof value === 'object' && value !== null) return value;
    throw check.wrongType(name, 'an object of options', value);
  },
  signal: (value: unknown, name: string): AbortSignal => {
    if (value instanceof AbortSignal) return value;
    throw check.wrongType(name, 'an AbortSignal', value);
  },
};
