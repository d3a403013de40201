/** A way to a server of MongoDB's protocol on which one command can be held: before the server hears of it, or when it is done and nobody knows. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';

/** A command, and the collection that it is about. */
export interface Asked {
  readonly name: string;
  readonly collection: unknown;
  readonly command: Document;
}

/** `'asked'`: the server has not heard of the command. `'answered'`: it has done it, and who asked does not know. */
export type Moment = 'asked' | 'answered';

/** What is held, and whom to tell. */
interface Hold {
  readonly isMeant: (asked: Asked) => boolean;
  readonly moment: Moment;
  /** How many that are meant come before it. */
  before: number;
  readonly reached: () => void;
}

/** Bytes of the header of a message, and the place of its first document: behind flags and the kind of a section. */
const [HEADER, BODY] = [16, 21];
/** The kind of message in which commands come. */
const OP_MSG = 2013;

export class Gate {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #hold: Hold | undefined;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Before a server of this machine, which may be killed and started again. */
  static async before(port: number): Promise<Gate> {
    const server = createServer();
    const gate = new Gate(server);
    server.on('connection', (from) => gate.#connect(from, connect(port, '127.0.0.1')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return gate;
  }

  /**
   * The address of a collection. A client whose server is killed in the moment in which it looks after it waits for an answer that never comes (driver
   * 6.22), until this time is over.
   */
  at(name: string): string {
    const { port } = this.#server.address() as AddressInfo;
    return `mongodb://127.0.0.1:${port}/${name}?serverSelectionTimeoutMS=3000`;
  }

  /** Resolves when the nth command of those meant is there. It goes no further, ever: whoever waits for it has to be killed. */
  hold(isMeant: (asked: Asked) => boolean, moment: Moment, nth = 1): Promise<void> {
    return new Promise((reached) => {
      this.#hold = { isMeant, moment, before: nth - 1, reached };
    });
  }

  /** Nothing more is held. */
  open(): void {
    this.#hold = undefined;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #connect(from: Socket, to: Socket): void {
    /** The request whose answer is held, and whom to tell. */
    let awaited: { readonly id: number; readonly reached: () => void } | undefined;
    this.#forward(from, to, (message) => {
      const hold = this.#hold;
      const asked = hold && askedIn(message);
      if (hold === undefined || asked === undefined || !hold.isMeant(asked)) return false;
      if (hold.before-- > 0) return false;
      this.open();
      if (hold.moment === 'asked') {
        hold.reached();
        return true;
      }
      awaited = { id: message.readInt32LE(4), reached: hold.reached };
      return false;
    });
    this.#forward(to, from, (message) => {
      if (awaited === undefined || message.readInt32LE(8) !== awaited.id) return false;
      awaited.reached();
      return true;
    });
  }

  /** Passes messages on, but for those that are held. */
  #forward(from: Socket, to: Socket, isHeld: (message: Buffer) => boolean): void {
    this.#sockets.add(from);
    let rest: Buffer = Buffer.alloc(0);
    from.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes]);
      while (rest.length >= HEADER && rest.length >= rest.readInt32LE(0)) {
        const message = rest.subarray(0, rest.readInt32LE(0));
        rest = rest.subarray(message.length);
        if (!isHeld(message)) to.write(message);
      }
    });
    from
      .on('error', () => {})
      .on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
  }
}

/** The command of a message; `undefined` where it has none. */
function askedIn(message: Buffer): Asked | undefined {
  if (message.readInt32LE(12) !== OP_MSG) return undefined;
  const command = BSON.deserialize(message.subarray(BODY, BODY + message.readInt32LE(BODY)));
  const [name = '', about] = Object.entries(command)[0] ?? [];
  return { name, collection: name === 'getMore' ? command['collection'] : about, command };
}
