/** What a server says of itself. */
import type { Collection } from 'mongodb';
import { dbOf } from './open';

/** What a run has to know of a server. */
export interface Server {
  /** It takes documents of fewer bytes than this. */
  readonly room: number;
  /** Milliseconds that its clock is ahead of the one here, about: leases of several machines are by one clock. */
  readonly ahead: number;
}

/** Bytes of a document, where a server does not say. */
const ROOM = 2 ** 24;

/** What the server of a collection says. */
export async function serverOf(collection: Collection): Promise<Server> {
  const before = Date.now();
  const said = await dbOf(collection).command({ hello: 1 });
  const here = (before + Date.now()) / 2;
  const { maxBsonObjectSize: room, localTime } = said;
  return {
    room: typeof room === 'number' && room > 0 ? room : ROOM,
    ahead: localTime instanceof Date ? localTime.getTime() - here : 0,
  };
}
