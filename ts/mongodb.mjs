// One build, one identity of each class: the ES module hands on what the CommonJS one exports.
import mongodb from './connect/mongodb.js';

export const { dedupCollection, planCollection, unmark } = mongodb;
