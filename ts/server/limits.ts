/** What a server takes at most. */

export interface Limits {
  /** Bytes of the body of a request of many documents. */
  readonly body: number;
  /** Bytes of one document: of a line, or of the body of a request of one. */
  readonly line: number;
  /** Bytes of all bodies that are being read. */
  readonly bodies: number;
  /** Documents that may wait or be under way. */
  readonly queue: number;
  /** Matches of a search. */
  readonly results: number;
  /** Connections. */
  readonly connections: number;
  /** Milliseconds until the head of a request must be there. */
  readonly headerTime: number;
  /** Milliseconds until a whole request must be there, and then until the client must have taken its answer. */
  readonly requestTime: number;
  /** Milliseconds for what is under way when the server is asked to end. */
  readonly drainTime: number;
}

export const LIMITS: Limits = {
  body: 16 << 20,
  line: 1 << 20,
  bodies: 256 << 20,
  queue: 20_000,
  results: 100,
  connections: 1024,
  headerTime: 10_000,
  requestTime: 60_000,
  drainTime: 30_000,
};
