import { given } from '../../given';
import { defineCommand } from '../command';
import { deciding, decidingOptions, deduplicate } from '../deduplicate';
import { UsageError } from '../exit';
import { checkStreams, DOCUMENTS, rejects } from '../options';

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
    ...rejects,
    'dry-run': { kind: 'flag', help: 'decide and count, write nothing' },
    ...deciding,
  },
  notes: [
    'Kept records are copied byte for byte. Outputs appear whole when the run has ended, or not at all; those whose name ends in .gz are compressed. An input file that changes during the run is an error; standard input and pipes are taken as they come.',
    'By default the first of near-duplicates is kept, and decided as it comes. Components and other keep rules are decided when the input has ended: files are read a second time, standard input and gzip files are copied to a temporary file.',
    'A malformed line is rejected: it is reported as file:line and counted, and the run goes on (exit status 1). Where every record is rejected nothing but the rejects file is written (exit status 3); an empty input has 0 documents.',
    'The JSON summary goes to standard output, or to standard error where the documents go to standard output.',
  ],
  async run(inputs, values, terminal) {
    const { clusters, mark, rejects, 'dry-run': dryRun } = values;
    checkStreams(inputs, [clusters, rejects]);
    const output = values.output ?? (dryRun ? '-' : missingOutput());
    const options = { ...given({ clusters, rejects }), ...decidingOptions(values), mark, dryRun };
    const streamed = values.output === '-';
    return deduplicate({ inputs, output, options, streamed }, values, terminal);
  },
});

function missingOutput(): never {
  throw new UsageError(
    'dedup needs -o OUT',
    '-o - writes to standard output, --dry-run writes nothing',
  );
}
