/** What a person said of pairs: kept in the browser where it allows that, and downloaded as a file that `eval` and `tune` read. */

export type Label = 'same' | 'different';

interface Pair {
  readonly a: string;
  readonly b: string;
}

export class Labels {
  readonly #byPair = new Map<string, Label>();
  readonly #key: string;
  readonly #changed: (byOther: boolean) => void;
  /** Changes that the browser could not keep: they are made again to whatever it has. */
  readonly #unkept = new Map<string, Label | undefined>();
  /** Labels that no file has. */
  #unsaved = 0;

  /** `name` tells the labels of one report from those of another in the same browser. `changed` is told whether another window of the report has made the change. */
  constructor(name: string, changed: (byOther: boolean) => void) {
    this.#key = `simhash-labels:${name}`;
    this.#changed = changed;
    this.#read();
    addEventListener('storage', ({ key }) => {
      if (key !== this.#key) return;
      this.#read();
      this.#changed(true);
    });
    addEventListener('beforeunload', (event) => {
      if (this.#unsaved > 0 && this.#unkept.size > 0) event.preventDefault();
    });
  }

  get size(): number {
    return this.#byPair.size;
  }

  of(pair: Pair): Label | undefined {
    return this.#byPair.get(keyOf(pair));
  }

  set(pair: Pair, label: Label | undefined): void {
    this.#unkept.set(keyOf(pair), label);
    // Another window may have written meanwhile.
    this.#read();
    this.#unsaved++;
    try {
      localStorage.setItem(this.#key, JSON.stringify([...this.#byPair]));
      this.#unkept.clear();
    } catch {
      // There is none, or no room in it.
    }
    this.#changed(false);
  }

  /** JSON lines, in the order of labelling. */
  file(): string {
    const lines = Array.from(this.#byPair, ([key, label]) => {
      const [a, b] = JSON.parse(key) as [string, string];
      return `${JSON.stringify({ a, b, label: label === 'same' ? 1 : 0 })}\n`;
    });
    return lines.join('');
  }

  download(): void {
    const url = URL.createObjectURL(new Blob([this.file()], { type: 'application/jsonl' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = 'labels.jsonl';
    link.click();
    // The browser has taken the address by then.
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    this.#unsaved = 0;
  }

  /** Takes what the browser has kept, if anything, in place of what is here, except for what it could not keep. */
  #read(): void {
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(this.#key) ?? 'null');
      if (Array.isArray(kept)) {
        this.#byPair.clear();
        for (const [pair, label] of kept) {
          if (label === 'same' || label === 'different') this.#byPair.set(String(pair), label);
        }
      }
    } catch {
      // Pages of files may have no storage: then labels last as long as the page.
    }
    for (const [pair, label] of this.#unkept) {
      if (label === undefined) this.#byPair.delete(pair);
      else this.#byPair.set(pair, label);
    }
  }
}

function keyOf({ a, b }: Pair): string {
  return JSON.stringify([a, b]);
}
