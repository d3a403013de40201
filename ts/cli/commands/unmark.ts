import { isAddress } from '../../connect/mongodb/address';
import { unnamed } from '../../connect/url';
import { given } from '../../given';
import { asOfInput } from '../collections';
import { defineCommand } from '../command';
import { UsageError } from '../exit';
import { plural } from '../format';

export const unmarking = defineCommand({
  name: 'unmark',
  summary: 'remove the marks of dedup --mark from a collection',
  arguments: { usage: 'COLLECTION', min: 1, max: 1, help: 'mongodb://HOST/DATABASE.COLLECTION' },
  addresses: 'any',
  options: {
    'mark-field': { kind: 'text', value: 'NAME', help: 'field of the marks; without it dedup' },
    run: {
      kind: 'text',
      value: 'ID',
      help: 'only marks of this run; without it those of all runs',
    },
  },
  examples: ['unmark mongodb://127.0.0.1/news.raw'],
  notes: ['Only marks that carry the id of a dedup run are removed.'],
  async run([source = ''], values, terminal) {
    if (!isAddress(source)) {
      throw new UsageError(
        `unmark reads a collection, mongodb://HOST/DATABASE.COLLECTION, not '${unnamed(source)}'`,
      );
    }
    const { unmark } = await import('../../connect/mongodb.js');
    const named = given({ markField: values['mark-field'], run: values.run });
    const { documents } = await asOfInput(unmark(source, named));
    terminal.say(`took the marks out of ${plural(documents, 'document')}`);
    return 0;
  },
});
