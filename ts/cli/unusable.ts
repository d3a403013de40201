/** What is said of inputs of which no record could be used: what the first ones hold, and what is likely wrong. */
import { NoRecordsError } from './exit';
import { count, oneLine } from './format';

/** Rejected records that are looked at, and fields that are named. */
const LOOKED_AT = 10;

export class Unusable {
  #rejected = 0;
  #first = '';
  #array = false;
  readonly #fields = new Map<string, number>();

  /** Takes a rejected line. */
  look(bytes: Uint8Array, where: string, reason: string): void {
    this.#rejected++;
    if (this.#rejected > LOOKED_AT) return;
    const line = Buffer.from(bytes).toString();
    if (this.#rejected === 1) {
      this.#first = `${where}: ${oneLine(reason)}`;
      this.#array = line.trimStart().startsWith('[');
    }
    for (const [name, value] of Object.entries(objectOf(line))) {
      const length = typeof value === 'string' ? value.length : -1;
      this.#fields.set(name, Math.max(length, this.#fields.get(name) ?? -1));
    }
  }

  /** The error where records were rejected and none was used. */
  error(textField: string): NoRecordsError | undefined {
    if (this.#rejected === 0) return undefined;
    const all =
      this.#rejected === 1
        ? 'the only record was rejected,'
        : `all ${count(this.#rejected)} records were rejected, the first is`;
    return new NoRecordsError(`${all} ${this.#first}; ${this.#hint(textField)}`);
  }

  #hint(textField: string): string {
    if (this.#fields.size === 0) {
      return this.#array
        ? "the input looks like one JSON array; write a record per line first, for example: jq -c '.[]' FILE"
        : "their lines are no JSON objects, and one text per line is not read yet; make records of them first, for example: jq -Rc '{text: .}' FILE";
    }
    const names = [...this.#fields.keys()];
    const named = `${names.slice(0, LOOKED_AT).join(', ')}${names.length > LOOKED_AT ? ', …' : ''}`;
    const [path, length] = [...this.#fields].sort((a, b) => b[1] - a[1])[0] ?? ['', -1];
    const fix =
      (this.#fields.get(textField) ?? -1) >= 0
        ? ''
        : length < 0
          ? ', and none of them holds text'
          : `; if the text is in ${path}, give --text-field ${path}`;
    return `the first of them have the fields ${named}${fix}`;
  }
}

/** The object of a line; an empty one where it is none. */
function objectOf(line: string): object {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}
