// The declarations of the CommonJS build; `log.mjs` exports the same names.
export * from './connect/log.js';
