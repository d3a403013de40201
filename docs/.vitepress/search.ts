/**
 * What the search of the site takes for words. Chinese has no spaces: its characters are taken in pairs, each with the next one, and one that stands alone as it is.
 * Browsers cut words differently from each other and from the Node.js that builds the index; pairs are the same everywhere.
 *
 * The site carries the source of this function into the browser, so it uses nothing from outside.
 */
export function tokenize(text: string): string[] {
  return text.split(/[\n\r\p{Z}\p{P}]+/u).flatMap((word) =>
    word.split(/(\p{Script=Han}+)/u).flatMap((run) => {
      if (!/^\p{Script=Han}/u.test(run)) return run === '' ? [] : [run];
      const signs = [...run];
      if (signs.length === 1) return signs;
      return signs.slice(1).map((sign, at) => `${signs[at]}${sign}`);
    }),
  );
}
