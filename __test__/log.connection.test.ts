/** A connection to Redis by clients of every version: what they throw when they are let go of, and how long they are waited for. */
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { type Client, Connection } from '../ts/connect/log/redis-connection';

/** A client of version 5, which throws where it is closed already. */
class Version5 extends EventEmitter {
  isOpen = true;

  async connect(): Promise<this> {
    return this;
  }

  destroy(): void {
    if (!this.isOpen) throw new Error('The client is closed');
    this.isOpen = false;
  }
}

/** A connection, and the clients that were made for it. */
function connection(patience?: number) {
  const made: Version5[] = [];
  const make = () => {
    const one = new Version5();
    made.push(one);
    return one as unknown as Client;
  };
  return { made, one: new Connection(make, patience) };
}

test('a client that has closed itself is let go of without a word, and another takes its place', async () => {
  const { made, one } = connection();
  await one.begun;
  const [first] = made as [Version5];
  first.isOpen = false;
  const asked: unknown[] = [];
  await one.ask(async (client) => asked.push(client));
  expect(asked).toEqual([made[1]]);
  const [, second] = made as [Version5, Version5];
  second.isOpen = false;
  one.close();
  expect(made).toHaveLength(2);
});

test('an answer is waited for as long as was asked for, also where no timer takes so many milliseconds', async () => {
  const { made, one } = connection(2 ** 31 - 1 + 4000);
  const warned = vi.spyOn(process, 'emitWarning');
  expect(await one.ask(() => sleep(50, 'answered'))).toBe('answered');
  // Such a timer would run out at once, and Node warns of it.
  expect(warned).not.toHaveBeenCalled();
  expect(made).toHaveLength(1);
  one.close();
});

test('where none comes a client is given up; one of another question counts', async () => {
  const { made, one } = connection(2500);
  const never = one.ask(() => new Promise(() => {})).catch(({ message }) => message);
  for (let n = 0; n < 6; n++) {
    await sleep(500);
    expect(await one.ask(async () => n)).toBe(n);
  }
  expect(made).toHaveLength(1);
  expect(await never).toBe('the server has not answered within 2500 ms');
  expect(made.map(({ isOpen }) => isOpen)).toEqual([false, true]);
  one.close();
});
