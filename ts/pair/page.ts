/** The page of two texts around what the command says of itself. */
import { document } from '../report/document';

/** `about` is the line above the fields: the version, and what texts are compared by. */
export function page(about: string): string {
  return document('pair', { run: about }, "connect-src 'self'");
}
