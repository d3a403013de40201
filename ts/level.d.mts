// The declarations of the CommonJS build; `level.mjs` exports the same names.
export * from './connect/level.js';
