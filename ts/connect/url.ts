/** Addresses of servers: their parts, and what messages may show of them. */

/** A part in which signs may be escaped; one that is escaped wrongly is as it stands. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A URL without user and password, whatever characters these have. */
export const unnamed = (url: string): string =>
  url.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1');

/** A text in which no URL names a user or a password. */
export function redacted(text: string): string {
  // As far as the last @: who forgot to escape a password has other characters in it.
  return text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s'"]*@/gi, '$1');
}
