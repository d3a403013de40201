// One build, one identity of each class: the ES module hands on what the CommonJS one exports.
import log from './connect/log.js';

export const { MemoryLog, SharedIndex, folderSnapshots, natsLog, redisLog } = log;
