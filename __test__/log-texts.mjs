/**
 * Texts of which no two are alike: 40 ideographs each, by a number.
 *
 * @param {number} seed
 * @returns {string}
 */
export function textOf(seed) {
  let state = (seed * 2_654_435_761 + 12_345) >>> 0;
  const signs = Array.from({ length: 40 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return 0x4e00 + ((state >>> 8) % 20_000);
  });
  return String.fromCodePoint(...signs);
}
