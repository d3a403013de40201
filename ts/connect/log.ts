/**
 * One window for several services, over an ordered log: Redis Streams, NATS JetStream, or whatever has three functions. The package depends on no
 * driver: who uses `redisLog` installs `redis`, and for `natsLog` `@nats-io/transport-node` and `@nats-io/jetstream`. See docs/shared-window.md.
 */
export type { LogEntry, LogPart, OrderedLog, ReadOptions } from './log/adapter';
export { MemoryLog } from './log/adapter';
export type { ServiceOptions, SharedOptions, SharedState } from './log/options';
export { type RedisLogOptions, redisLog } from './log/redis';
export { SharedIndex } from './log/shared';
export { folderSnapshots, type SnapshotAbout, type SnapshotStore } from './log/snapshots';
