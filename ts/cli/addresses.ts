/** Addresses, `scheme://…`, where a command takes files: refused before anything is opened, and never shown. */
import { isAddress } from '../connect/mongodb/address';
import { type Command, isOfPath, type OptionTable, type Values } from './command';
import { UsageError } from './exit';

/** Options of `dedup` and `plan` whose value may be a collection too. */
const OF_COLLECTIONS: readonly string[] = ['output', 'known'];

/**
 * Refuses what is no file and no address that the command takes.
 *
 * @throws UsageError that names the scheme alone: of an address of an unknown form nobody can say where its password is.
 */
export function refuseAddresses(
  command: Command,
  args: readonly string[],
  values: Values<OptionTable>,
  typed: ReadonlyMap<string, string>,
): void {
  const { name, addresses, options } = command;
  if (addresses === 'any') return;
  const isCollected = addresses === 'collections';
  for (const argument of args) {
    if (!(isCollected && isAddress(argument))) refuse(argument, name, isCollected);
  }
  for (const [option, spec] of Object.entries(options)) {
    if (!isOfPath(spec)) continue;
    // Where the input is a collection, so are these: that is looked at with it.
    const isEither = isCollected && OF_COLLECTIONS.includes(option);
    if (isEither && args.some(isAddress)) continue;
    const subject = typed.get(option) ?? `--${option}`;
    for (const value of [values[option]].flat()) {
      if (typeof value !== 'string') continue;
      if (isEither && isAddress(value)) throw besideFiles(subject);
      refuse(value, subject, false);
    }
  }
}

function refuse(value: string, subject: string, isCollected: boolean): void {
  const [scheme] = /^(?:[a-z][a-z0-9+.-]*:)+\/\//i.exec(value) ?? [];
  if (scheme === undefined) return;
  const also = isCollected ? ' or collections, mongodb://HOST/DATABASE.COLLECTION' : '';
  throw new UsageError(
    `${subject} takes files${also}, not an address (${scheme}…)`,
    `a folder of such a name is written ./${scheme}…`,
  );
}

function besideFiles(subject: string): UsageError {
  return new UsageError(
    `${subject} must be a file, as the input is, not a collection (mongodb://…)`,
    'dedup reads and writes files, or collections of MongoDB: export one, or import the other',
  );
}
