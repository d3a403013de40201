/** Commands that the page shows, as a shell takes them. */
export interface Next {
  readonly tune: string;
  /** Where the result is a file of clusters, or would be with `--clusters`. */
  readonly eval?: string;
  /** Files that the commands do not name. */
  readonly more?: number;
  /** Options of the run that no command line can give. */
  readonly unsaid?: readonly string[];
}

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
  /** The file as it was named; none where it was a temporary one. */
  readonly result?: string;
  /** The first of the inputs as they were named, and how many more there are. */
  readonly inputs: readonly string[];
  readonly moreInputs?: number;
  readonly next: Next;
  /** Of documents of a database: what stands for the files that they were in, known ones before those of the inputs. */
  readonly names?: readonly string[];
  /** Documents that could not be used and came into no file. */
  readonly rejected?: number;
}
