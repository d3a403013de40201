/** Services of a shared index, which are closed after each test. */
import { afterEach } from 'vitest';
import { type OrderedLog, SharedIndex } from '../dist/connect/log.js';
import type { Folder } from './cli-run';

export type Service = SharedIndex<never>;

/** What opens a service by the name of its folder; without an option for it nothing waits for the disk. */
export function services(folder: Folder) {
  const open: Service[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close().catch(() => {});
  });
  return async (log: OrderedLog, name: string, options: object = {}): Promise<Service> => {
    const all = { durability: 'none', ...options };
    const shared = await SharedIndex.open<never>(folder.join(name), log, all as never);
    open.push(shared);
    return shared;
  };
}
