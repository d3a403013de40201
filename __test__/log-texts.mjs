/** Signs of a text. */
const SIGNS = 40;

/**
 * Texts of which no two are alike: 40 ideographs each, by a number of less than 2 ** 26. Each sign is the hash of its own number, so that
 * texts of two numbers have no part of a sequence in common.
 *
 * @param {number} seed
 * @returns {string}
 */
export function textOf(seed) {
  const signs = Array.from({ length: SIGNS }, (_, n) => {
    let hash = (seed * SIGNS + n) >>> 0;
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return 0x4e00 + (((hash ^ (hash >>> 16)) >>> 0) % 20_000);
  });
  return String.fromCodePoint(...signs);
}
