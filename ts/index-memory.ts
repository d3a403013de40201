/** Says once that an index has nearly used the memory that it may take. */
import type { Handle } from './handle';
import type { NativeIndex } from './native';

/** Share of the bound at which a process is warned. */
const NEARLY = 0.8;

/** Looks at the bytes of an index after additions. */
export class MemoryWatch {
  readonly #most: number;
  #told = false;

  constructor(most: number) {
    this.#most = most;
  }

  /** `texts`: whether the index stores texts. */
  look(handle: Handle<NativeIndex>, texts: boolean): void {
    if (this.#told || handle.isClosed) return;
    const bytes = handle.native.bytes();
    if (bytes < NEARLY * this.#most) return;
    this.#told = true;
    const less = texts ? '. texts: false takes less: matches are then not verified' : '';
    process.emitWarning(
      `an index takes ${bytes} of the ${this.#most} bytes that it may (memory); beyond them additions fail${less}`,
      { type: 'SimHashWarning', code: 'SIMHASH_MEMORY' },
    );
  }
}
