// The declarations of the CommonJS build; `index.mjs` exports the same names.
export * from './index.js';
