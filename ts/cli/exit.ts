/** How a run ends: the exit statuses, and which error leads to which. */

export const EXIT = {
  done: 0,
  /** Done, but records were rejected. */
  rejected: 1,
  /** The command line is wrong. */
  usage: 2,
  /** An input or output cannot be opened, read or written. */
  io: 3,
  /** A saved index is damaged, or its parts do not belong together. */
  index: 4,
  /** A defect of this program (`EX_SOFTWARE` of sysexits.h). */
  defect: 70,
  /** 128 + SIGINT; other signals likewise. */
  interrupted: 130,
} as const;

/** The command line is wrong; `hint` is a second line that says what would be right. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  constructor(
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** A file of the command line cannot be read. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly code = 'ERR_SIMHASH_INPUT';
  constructor(file: string, cause: unknown) {
    super(`cannot read ${file}: ${messageOf(cause)}`, { cause });
  }
}

const SAVED_INDEX: readonly string[] = [
  'ERR_SIMHASH_INDEX_DAMAGED',
  'ERR_SIMHASH_INDEX_FORMAT',
  'ERR_SIMHASH_INDEX_MISMATCH',
];

/** The exit status for an error that ended a command. */
export function statusOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  const code = codeOf(error);
  // Programming errors of the library are, from here, values that the user typed.
  if (code?.startsWith('ERR_INVALID_ARG') || code === 'ERR_OUT_OF_RANGE') return EXIT.usage;
  if (code === 'ERR_SIMHASH_SAME_FILE' || code === 'ERR_SIMHASH_NOT_BUILT') return EXIT.usage;
  if (code !== undefined && SAVED_INDEX.includes(code)) return EXIT.index;
  return code?.startsWith('ERR_SIMHASH_') ? EXIT.io : EXIT.defect;
}

/** The stable code of an error, if it has one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
