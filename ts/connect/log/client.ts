/** What every log takes for the client that it is reached by. */
import { connect } from 'node:net';
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

/** Codes of Node for a certificate that is not to be trusted. */
const UNTRUSTED =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_\w+|ERR_TLS_CERT_\w+|HOSTNAME_MISMATCH)$/;

/** Milliseconds for an answer without TLS. */
const PLAIN = 2000;

/** Whether a server that says nothing to TLS answers a line of text. */
export function answersPlainly(host: string, port: number, line: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, host, () => socket.write(line));
    socket.setTimeout(PLAIN, () => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => done(false));
    socket.on('data', (data) => {
      // What TLS says begins with another byte.
      done(/^[+-]/.test(String(data)));
      socket.destroy();
    });
  });
}

/** What to do about a certificate that is not trusted, which a further attempt does not change; `undefined`: it is another error. */
export function untrusted(error: unknown): string | undefined {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  if (!UNTRUSTED.test(String(code))) return undefined;
  const how =
    'name the file of its authority in the environment variable NODE_EXTRA_CA_CERTS, or in the options of the client';
  return `the certificate of the server is not trusted (${message}); ${how}`;
}
