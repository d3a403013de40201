// The declarations of the CommonJS build; `mongodb.mjs` exports the same names.
export * from './connect/mongodb.js';
