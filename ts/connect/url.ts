/** Addresses of servers: their parts, and what messages may show of them. */

/** A part in which signs may be escaped; one that is escaped wrongly is as it stands. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A URL without user, password and query, which may hold another password, whatever characters these have. */
export const unnamed = (url: string): string =>
  url.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1').replace(/\?.*$/s, '');

/** A text in which no URL names a user or a password, or has a query with values. */
export function redacted(text: string): string {
  // Schemes are short: a word of any length is looked at once.
  return (
    text
      // A password that nobody escaped may have spaces, quotes and slashes in it: as far as the last @ of the line before the next URL, or the next value of a
      // text that is JSON. A port is no password.
      .replace(
        /([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@:'"?#]*:(?!\d+(?:[/?#,)\s'"]|$))(?:(?!:\/\/|"[,:}\]])[^\n])*@/gi,
        '$1',
      )
      // As far as the last @: who forgot to escape a password has other characters in it.
      .replace(/([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s'"]*@/gi, '$1')
      // Not the backslash before a quote: the text may be JSON.
      .replace(
        /([a-z][a-z0-9+.-]{0,30}:\/\/[^\s'"?]*)\?[^\s'"=]*=(?:[^\s'"\\]|\\[^\s"'])*/gi,
        '$1?…',
      )
  );
}
