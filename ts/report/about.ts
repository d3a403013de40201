/** What the page is told of a run beside its figures. Nothing that differs from run to run: the same run makes the same page. */
export interface RunAbout {
  /** What made the groups: `dedup`, `clusters`, `match`, or `report` where only their file is known. */
  readonly command: 'dedup' | 'clusters' | 'match' | 'report';
  /** Of this package. */
  readonly version: string;
  readonly method?: string;
  /** Similarity from which documents were taken for duplicates; absent where nothing was verified. */
  readonly threshold?: number;
  readonly measure?: string;
  /** Of simhash. */
  readonly maxDistance?: number;
  /** Of minhash. */
  readonly bands?: number;
  readonly rows?: number;
  /** Texts whose candidates a limit cut. */
  readonly truncated?: number;
  readonly texts: 'all' | 'cut' | 'none';
  /** Files as they were named, for the commands that the page shows; no result where it was a temporary file. */
  readonly result?: string;
  readonly inputs: readonly string[];
  /** Of documents of a database: what stands for the files that they were in, known ones before those of the inputs. */
  readonly names?: readonly string[];
  /** Documents that could not be used and came into no file. */
  readonly rejected?: number;
}
