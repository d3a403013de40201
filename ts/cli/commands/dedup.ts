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
  addresses: 'collections',
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
      help: 'for texts in files: write the paths of the kept files, one per line',
    },
    copy: {
      kind: 'text',
      value: 'DIR',
      help: 'for texts in files, instead of OUT: copy the kept files into this folder; existing files are not replaced',
    },
    'output-encoding': {
      kind: 'text',
      value: 'NAME',
      help: 'encoding of OUT; without it that of the inputs if they share one, else utf-8',
    },
    ...rejects,
    ...reporting,
    known: {
      kind: 'texts',
      value: 'FILE',
      help: 'documents that you have already: their duplicates are removed, and they are never written',
    },
    index: {
      kind: 'text',
      value: 'DIR',
      help: 'compare with this index too, and add what is kept, in one commit with the outputs; created if it does not exist',
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
    'Inputs are JSON lines, a JSON array, CSV, TSV or lines of text, all of one format, which is that of OUT; of a folder the texts below it are read (.txt, .text, .md, .html, .htm), and OUT has JSON lines of id (the path) and text. gzip, zstd, bzip2 and xz are detected by their first bytes.',
    'Kept records are copied byte for byte, unless their encoding is changed. Outputs appear whole when the run has ended, or not at all; those whose name ends in .gz or .zst are compressed. An input file that changes during the run is an error; standard input and pipes are read as they arrive.',
    'By default the first of near-duplicates is kept. Files are read a second time to write the output; compressed files, files in UTF-16 and folders are copied to a temporary file for that. Documents of standard input and pipes are decided as they arrive, except with components, other keep rules and --across-files-only: then they are copied to a temporary file too.',
    'A malformed line is rejected: it is reported as file:line and counted, and the run goes on (exit status 1). If every record is rejected, only the rejects file is written (exit status 3); an empty input has 0 documents.',
    'With --known a document may also be a duplicate of a document in those files. Everything is decided when all inputs have been read, standard input too; the first document of a cluster is kept, and the others are its duplicates. Ids made from line numbers do not tell which of the two sides they belong to.',
    'With --across-files-only documents are compared only with those of other inputs: duplicates within one input stay, and of a cluster all documents are kept that are in the same input as the one that --keep chooses. A folder of texts is one input, and so is a pattern of texts; of any other pattern each file is one input. This makes several corpora disjoint without removing repetitions within each.',
    'With --index a document may also be a duplicate of one from an earlier run; the options are those of the index. The run takes effect whole or not at all: if it is killed, the next command that opens the index completes or undoes it. Running the same files again gives the same answers and adds nothing. Inputs and outputs must be files; the first document of a cluster is kept, and the others are its duplicates.',
    'With --memory the data about documents is kept in temporary files, up to about 200 bytes per document, beside copies of compressed input; the result is the same. The limit covers the whole process and is kept within a tenth, for files and every method except brute-force. brute-force, and standard input that is decided as it arrives, hold documents in memory, and stop with an error if the limit is too small. So do records of many megabytes. Linux only.',
    'With --tmp a run from files to files stores its progress in a folder of its own there, about 230 bytes per document, and removes it at the end. If the run is killed, interrupted, or stopped by a full disk, the same command with --resume continues it and writes the same outputs, whatever --threads and --memory are. Inputs that have changed since, or other options, are an error. Without --resume the run starts from the beginning, and removes the stored progress.',
    'With --report the inputs are read a second time after the outputs have been written, so they must be files. For a collection the report is made from what the run has read. The page contains the beginnings of a few hundred texts, unless --report-texts is none; it loads nothing. Pairs labelled on it are labels for eval and tune (docs/report.md).',
    'A MongoDB collection, mongodb://HOST/DATABASE.COLLECTION, is written to another collection without its duplicates, which go to OUT.duplicates; with --mark they are marked in place instead. Without a host the server is taken from MONGODB_URI, or from the first line of the file that MONGODB_URI_FILE names. The same command continues a run that was stopped (docs/mongodb.md).',
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
