/** `Index` with the types of each method: which index options make, open and share. */
import type { DirectoryOptions } from './directory';
import type { JobOptions } from './fingerprinter';
import type {
  AnyMethodOptions,
  ExactIndexOptions,
  GroupOptions,
  IndexOptions,
  MinHashIndexOptions,
  Named,
  SentencesIndexOptions,
  SimHashIndexOptions,
  UnverifiedOptions,
} from './index-options';
import { Index as Live, type SharedIndex } from './live-index';
import type { IndexMethod } from './method';
import type { Path } from './path';
import { type IndexPlan, type PlanOptions, plan, planNames } from './plan';

/** An index of method `M`; `T` is `false` where it stores no texts. See the class. */
export type Index<M extends IndexMethod = 'minhash', T extends boolean = true> = Live<M, T>;

/** Makes indexes. Without `method` it is that of the first option that only one method has, else `'minhash'`, as in `dedup`. */
export interface IndexConstructor extends Make {
  readonly prototype: Live;

  /**
   * Opens the index of a folder, or makes both: every change goes there, as `durability` says. Or reads a file that `save` wrote, once, into memory.
   * The result is as the index was, its next id too. Takes up to as long as adding the documents without making their sketches. Without `method`, or an
   * option that only one method has, the method is that of the folder or file, and `method` of the index says which. Every option that is not given is
   * the index's own, and one that is given must be what the index was made with: an error names the first that is not. `dictionary`, `stopWords` and `idf`
   * are not stored, only what identifies them: who made the index with some gives the same again. Of `normalize` and `window` what is given is compared
   * as a whole: steps that `normalize` does not name are the index's own, limits that `window` does not name are none.
   *
   * One process writes to a folder, which its lock names; others open it with `readOnly`. A folder on a network file system is as safe as
   * that file system's locks and flushes.
   *
   * @throws SimHashError `ERR_SIMHASH_INPUT`: it cannot be read, or is no index; `ERR_SIMHASH_INDEX_DAMAGED`: a file is truncated, changed, missing or of
   * another index, with the byte where that was noticed; `ERR_SIMHASH_INDEX_FORMAT`: another release wrote it, in a
   * format that this one does not read: see `convertIndex`; `ERR_SIMHASH_INDEX_MISMATCH`: it was made with other options than those
   * given; `ERR_SIMHASH_INDEX_LOCKED`: a process writes to the folder already. All name the file, and say what to do.
   */
  readonly open: Open;
  /** {@link open} of a saved file while the JavaScript thread waits: for scripts, and for indexes of some ten thousand documents. */
  readonly openSync: OpenSync;

  /**
   * The index of a handle; its documents and options are those of the index that was shared.
   *
   * @throws SimHashError `ERR_SIMHASH_CLOSED`: the index is closed or collected everywhere, or belongs to another process.
   */
  fromShared<M extends IndexMethod, T extends boolean>(handle: SharedIndex<M, T>): Index<M, T>;

  /** What an index of these options takes for so many documents, and what its method finds. Builds nothing. */
  readonly plan: Planning;

  /** Names that `plan` of `'simhash'` can have beside `'auto'` and `'classic'`. */
  planNames(): string[];
}

interface Make {
  new <T extends boolean = false>(
    options: MinHashIndexOptions<T> & UnverifiedOptions<T>,
  ): Live<'minhash', T>;
  new <T extends boolean = false>(
    options: SimHashIndexOptions<T> & UnverifiedOptions<T>,
  ): Live<'simhash', T>;
  new <T extends boolean = false>(
    options: SentencesIndexOptions<T> & (UnverifiedOptions<T> | GroupOptions<T>),
  ): Live<'sentences', T>;
  new <T extends boolean = true>(options?: MinHashIndexOptions<T>): Live<'minhash', T>;
  new <T extends boolean = true>(options: SimHashIndexOptions<T>): Live<'simhash', T>;
  new <T extends boolean = true>(options: SentencesIndexOptions<T>): Live<'sentences', T>;
  new (options: ExactIndexOptions): Live<'exact', false>;
  new (options: IndexOptions): Live;
}

interface Planning {
  (options?: PlanOptions<'minhash'>): IndexPlan<'minhash'>;
  (options: PlanOptions<'simhash'>): IndexPlan<'simhash'>;
  (options: PlanOptions<'sentences'>): IndexPlan<'sentences'>;
  (options: PlanOptions<'exact'>): IndexPlan<'exact'>;
  (options: PlanOptions): IndexPlan;
}

/** How a path is opened. */
type OpenOptions = DirectoryOptions & JobOptions;

interface Open {
  <T extends boolean = false>(
    path: Path,
    options: MinHashIndexOptions<T> & UnverifiedOptions<T> & Named<'minhash'> & OpenOptions,
  ): Promise<Live<'minhash', T>>;
  <T extends boolean = false>(
    path: Path,
    options: SimHashIndexOptions<T> & UnverifiedOptions<T> & Named<'simhash'> & OpenOptions,
  ): Promise<Live<'simhash', T>>;
  <T extends boolean = false>(
    path: Path,
    options: SentencesIndexOptions<T> &
      (UnverifiedOptions<T> | GroupOptions<T>) &
      Named<'sentences'> &
      OpenOptions,
  ): Promise<Live<'sentences', T>>;
  <T extends boolean = true>(
    path: Path,
    options: MinHashIndexOptions<T> & Named<'minhash'> & OpenOptions,
  ): Promise<Live<'minhash', T>>;
  <T extends boolean = true>(
    path: Path,
    options: SimHashIndexOptions<T> & Named<'simhash'> & OpenOptions,
  ): Promise<Live<'simhash', T>>;
  <T extends boolean = true>(
    path: Path,
    options: SentencesIndexOptions<T> & Named<'sentences'> & OpenOptions,
  ): Promise<Live<'sentences', T>>;
  (path: Path, options: ExactIndexOptions & OpenOptions): Promise<Live<'exact', false>>;
  (path: Path, options?: AnyMethodOptions & OpenOptions): Promise<Live>;
  (path: Path, options: IndexOptions & OpenOptions): Promise<Live>;
}

interface OpenSync {
  <T extends boolean = false>(
    path: Path,
    options: MinHashIndexOptions<T> & UnverifiedOptions<T> & Named<'minhash'>,
  ): Live<'minhash', T>;
  <T extends boolean = false>(
    path: Path,
    options: SimHashIndexOptions<T> & UnverifiedOptions<T> & Named<'simhash'>,
  ): Live<'simhash', T>;
  <T extends boolean = false>(
    path: Path,
    options: SentencesIndexOptions<T> &
      (UnverifiedOptions<T> | GroupOptions<T>) &
      Named<'sentences'>,
  ): Live<'sentences', T>;
  <T extends boolean = true>(
    path: Path,
    options: MinHashIndexOptions<T> & Named<'minhash'>,
  ): Live<'minhash', T>;
  <T extends boolean = true>(
    path: Path,
    options: SimHashIndexOptions<T> & Named<'simhash'>,
  ): Live<'simhash', T>;
  <T extends boolean = true>(
    path: Path,
    options: SentencesIndexOptions<T> & Named<'sentences'>,
  ): Live<'sentences', T>;
  (path: Path, options: ExactIndexOptions): Live<'exact', false>;
  (path: Path, options?: AnyMethodOptions): Live;
  (path: Path, options: IndexOptions): Live;
}

export const Index = Object.assign(Live, { plan, planNames }) as unknown as IndexConstructor;
