import { given } from '../../given';
import { collections, isAddress, ofCollections, refuseOfCollections } from '../collections';
import { defineCommand } from '../command';
import { deciding, decidingOptions } from '../deciding';
import { deduplicate } from '../deduplicate';
import { UsageError } from '../exit';
import { checkStreams, DOCUMENTS, rejects, reporting, reportingOf } from '../options';

export const dedup = defineCommand({
  name: 'dedup',
  summary: 'write the documents of files without their near-duplicates',
  arguments: DOCUMENTS,
  options: {
    output: {
      kind: 'text',
      short: 'o',
      value: 'OUT',
      help: 'file for the documents that are kept',
    },
    clusters: {
      kind: 'text',
      value: 'FILE',
      help: 'also write each cluster of two or more: its representative and members',
    },
    mark: {
      kind: 'flag',
      help: 'keep every record; add duplicateOf, similarity and distance to duplicates',
    },
    list: {
      kind: 'flag',
      help: 'of texts in files: write the paths of those that are kept, a line each',
    },
    copy: {
      kind: 'text',
      value: 'DIR',
      help: 'of texts in files, instead of OUT: copy those that are kept into this folder; nothing that is there is replaced',
    },
    'output-encoding': {
      kind: 'text',
      value: 'NAME',
      help: 'how characters of OUT are written; without it as in the inputs, where they have one encoding, else utf-8',
    },
    ...rejects,
    ...reporting,
    known: {
      kind: 'texts',
      value: 'FILE',
      help: 'documents that are there already: their duplicates go, and they are never written',
    },
    index: {
      kind: 'text',
      value: 'DIR',
      help: 'check against this index too, and add what is kept, in one commit with the outputs; it is made where there is none',
    },
    'dry-run': { kind: 'flag', help: 'decide and count, write nothing' },
    ...ofCollections,
    ...deciding,
  },
  examples: [
    'dedup news.jsonl -o unique.jsonl',
    'dedup news.csv -o unique.csv --text-field body --id-field no',
    'dedup texts/ --list -o keep.txt',
    'dedup web.jsonl books.jsonl --across-files-only -o all.jsonl',
    'dedup today.jsonl --index seen.index -o new.jsonl',
    'dedup news.jsonl -o unique.jsonl --report report.html',
    'dedup mongodb:///news.raw -o mongodb:///news.unique',
  ],
  notes: [
    'Inputs are JSON lines, a JSON array, CSV, TSV or lines of text, all of one format, which is that of OUT; of a folder the texts below it are read (.txt, .text, .md, .html, .htm), and OUT has JSON lines of id, the path, and text. gzip, zstd, bzip2 and xz are known by their first bytes.',
    'Kept records are copied byte for byte, unless their encoding is changed. Outputs appear whole when the run has ended, or not at all; those whose name ends in .gz or .zst are compressed. An input file that changes during the run is an error; standard input and pipes are taken as they come.',
    'By default the first of near-duplicates is kept. Files are read a second time when they have ended, and then written; compressed files, those in UTF-16 and folders are copied to a temporary file for that. Standard input and pipes are decided as they come, except for components, other keep rules and --across-files-only: then they are copied to a temporary file too.',
    'A malformed line is rejected: it is reported as file:line and counted, and the run goes on (exit status 1). Where every record is rejected nothing but the rejects file is written (exit status 3); an empty input has 0 documents.',
    'With --known a document may be a duplicate of one of those files; everything is decided when all have been read, standard input too, and the first document is kept, around which others are its duplicates. Ids made from line numbers do not say on which side they are.',
    'With --across-files-only documents are compared with those of other inputs: what is alike within one input stays, and of a cluster all documents are kept that are of the same input as the one that --keep chooses. A folder of texts is one input, and so is a pattern of texts; of another pattern each file is one. So several corpora are made disjoint without touching what each repeats on purpose.',
    'With --index a document may be a duplicate of one of an earlier run; the options are those of the index. The run counts whole or not at all: killed on the way, it is finished or undone by the next that opens the index. The same files once more are answered as the first time, and add nothing. Inputs and outputs are files then, and the first document is kept, around which others are its duplicates.',
    'With --memory what is known of documents lies in temporary files, up to some 200 bytes each, beside copies of compressed input; the result is the same. The bound is that of the whole process, kept within a tenth, for files by every method but brute-force, which compares all sets of features with all. That one, and standard input that is decided as it comes, hold documents in memory, and stop with an error where it does not suffice. So do records of many megabytes. Linux only.',
    'With --tmp a run over files into files keeps in a folder of its own there what it has done, some 230 bytes per document, and removes it at its end. Killed, interrupted, or stopped by a full disk, it goes on with --resume: the same command writes what it would have written, whatever --threads and --memory are. Inputs that changed since are an error, and so are other options. Without --resume it begins anew, and removes what it had kept.',
    'With --report the inputs are read once more when the outputs have their names: they must be files. Of a collection the page is made of what the run has read. The page holds the beginnings of some hundred texts, unless --report-texts is none; it loads nothing. Pairs that are labelled there are labels for eval and tune (docs/report.md).',
    'A collection of MongoDB, mongodb://HOST/DATABASE.COLLECTION, goes into another one, its duplicates into OUT.duplicates; or with --mark they are marked where they are. Without a host the server is that of MONGODB_URI, or of the first line of the file that MONGODB_URI_FILE names. A run that was stopped goes on when it is given again (docs/mongodb.md).',
    'The JSON summary goes to standard output, or to standard error where the documents go to standard output.',
  ],
  async run(inputs, values, terminal) {
    if (inputs.some(isAddress)) return collections(inputs, values, values, terminal);
    refuseOfCollections(values);
    const { clusters, mark, list, copy, rejects, known, 'dry-run': dryRun } = values;
    const outputEncoding = values['output-encoding'];
    checkStreams([...inputs, ...(known ?? [])], [clusters, rejects, values.report]);
    if (copy !== undefined) checkCopy(values);
    if (dryRun && values.report !== undefined) {
      throw new UsageError('--report must be left out beside --dry-run, which writes nothing');
    }
    const output =
      copy === undefined ? (values.output ?? (dryRun ? '-' : missingOutput())) : undefined;
    const { index } = values;
    if (index !== undefined && !dryRun) checkFiles(inputs, output ?? '-');
    if (known !== undefined) checkKnown(values);
    if (index !== undefined && values['across-files-only']) {
      throw new UsageError('--across-files-only must be left out beside --index');
    }
    if (index !== undefined && values.memory !== undefined) {
      throw new UsageError('--memory must be left out beside --index, which is held in memory');
    }
    const files = given({ clusters, copy, rejects, known, index, outputEncoding });
    const looked = { ...reportingOf(values), ...decidingOptions(values) };
    const options = { ...files, ...looked, mark, list, dryRun };
    const streamed = values.output === '-';
    return deduplicate({ inputs, output, options, streamed }, values, terminal);
  },
});

/** Files are copied instead of records being written. */
function checkCopy(values: {
  output: string | undefined;
  index: string | undefined;
  mark: boolean;
  list: boolean;
}): void {
  if (values.output !== undefined) throw new UsageError('--copy is instead of -o OUT');
  if (values.index !== undefined) throw new UsageError('--copy is not for --index');
  if (values.mark || values.list) throw new UsageError('--copy is not for --mark and --list');
}

/** Known documents stay, so they come first. */
function checkKnown(values: { index: string | undefined; cluster: string; keep: string }): void {
  if (values.index !== undefined) {
    throw new UsageError('--known is not for --index', 'an index holds what was there');
  }
  if (values.cluster !== 'representative') {
    throw new UsageError('--known is for --cluster representative');
  }
  if (values.keep !== 'first') throw new UsageError('--known is for --keep first');
}

/** A run into an index is known by what it reads, and counts when its outputs have their names. */
function checkFiles(inputs: readonly string[], output: string): void {
  if (inputs.includes('-')) {
    throw new UsageError('dedup --index reads files, not standard input (-)');
  }
  if (output === '-') {
    throw new UsageError('dedup --index writes files, not to standard output (-)');
  }
}

function missingOutput(): never {
  throw new UsageError(
    'dedup needs -o OUT',
    '-o - writes to standard output, --dry-run writes nothing',
  );
}
