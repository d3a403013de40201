// One build, one identity of each class: the ES module hands on what the CommonJS one exports.
import level from './connect/level.js';

export const { KeptIndex } = level;
