/** The page of a report: its head, its charts, and the clusters to look at. */
import { Browser } from './browser';
import { charts } from './charts';
import { digest, type Figures, type Run, read } from './data';
import { at, h } from './dom';
import { count, percent, plural } from './format';
import { Labels } from './labels';
import { start as themes } from './themes';

const run = read<Run>('run');
const written = read<Figures>('figures');
// Of a database the files were those of the run, which nobody knows.
const figures: Figures = { ...written, names: run.names ?? written.names };
const { all, found, areMatches } = figures;

function summary(): void {
  const what = areMatches ? 'have a match' : 'are near-duplicates';
  const headline =
    all.duplicates === 0
      ? `No ${areMatches ? 'matches' : 'near-duplicates'} among ${plural(all.documents, 'document')}`
      : `${count(all.duplicates)} of ${plural(all.documents, 'document')} ${what}`;
  document.title = headline;
  if (areMatches) at('browser-title').textContent = 'Matches, side by side';
  at('headline').textContent = headline;
  at('kicker').textContent = `simhash-native ${run.version} · ${run.command}`;
  at('lead').replaceChildren(...lead());
  const kept = all.documents - all.duplicates;
  at('whole').append(part('dup', all.duplicates, all.documents), part('keep', kept, all.documents));
  at('whole').setAttribute('role', 'img');
  at('whole').setAttribute(
    'aria-label',
    `${percent(all.duplicates, all.documents)} of the documents ${areMatches ? 'have a match' : 'are duplicates'}`,
  );
  at('totals').append(
    total('Documents', count(all.documents)),
    ...(areMatches
      ? [
          total(
            'With a match',
            count(all.duplicates),
            percent(all.duplicates, all.documents),
            'dup',
          ),
          total('Without', count(kept), percent(kept, all.documents), 'keep'),
          total('Looked among', count(figures.others)),
        ]
      : [
          total('Duplicates', count(all.duplicates), percent(all.duplicates, all.documents), 'dup'),
          total('Kept', count(kept), percent(kept, all.documents), 'keep'),
          total('Clusters', count(found.groups)),
          ...(figures.others > 0 ? [total('Known before', count(figures.others))] : []),
        ]),
    total('Rejected', count(figures.rejected + (run.rejected ?? 0))),
  );
  const notices = [
    figures.unknown > 0
      ? `${plural(figures.unknown, 'document')} that the file of clusters names ${figures.unknown === 1 ? 'is' : 'are'} not among the inputs: were they made from other files?`
      : undefined,
    (run.truncated ?? 0) > 0
      ? `${plural(run.truncated ?? 0, 'text')} had more candidates than were looked at: some duplicates of theirs may be missing.`
      : undefined,
  ];
  for (const notice of notices) {
    if (notice !== undefined) at('notices').append(h('p', { class: 'notice' }, notice));
  }
}

function lead(): Node[] {
  const [first = ''] = run.inputs;
  const { moreInputs = 0 } = run;
  const files = moreInputs === 0 ? '' : ` and ${plural(moreInputs, 'more input')}`;
  const how = [
    run.method === undefined ? undefined : `method ${run.method}`,
    run.threshold === undefined ? undefined : `similarity from ${run.threshold}`,
    run.maxDistance === undefined ? undefined : `distance up to ${run.maxDistance}`,
  ].filter((part) => part !== undefined);
  return [
    h('bdi', {}, first),
    document.createTextNode(`${files}${how.length === 0 ? '' : ` · ${how.join(', ')}`}`),
  ];
}

function part(kind: string, value: number, of: number): HTMLElement {
  const bar = h('span', { class: kind });
  bar.style.flexGrow = String(of === 0 ? 0 : value / of);
  bar.hidden = value === 0;
  return bar;
}

function total(name: string, value: string, share = '', kind = ''): HTMLElement {
  return h(
    'div',
    {},
    h('dt', { class: kind }, name),
    h('dd', {}, value, share === '' ? undefined : h('small', {}, ` ${share}`)),
  );
}

function after(): void {
  at('after-text').textContent =
    'Pairs that you label leave this page as a file of JSON lines, by the button above; nothing is sent anywhere. Move labels.jsonl into the folder in which the run was started (a browser may call a second download labels (1).jsonl: rename it), and run there:';
  const { tune, more = 0, unsaid = [] } = run.next;
  const step = (what: string, command: string) =>
    h('li', {}, h('p', {}, what), h('pre', { tabindex: '0' }, h('code', {}, command)));
  // Matches are no clusters.
  if (run.next.eval !== undefined && !areMatches) {
    const why =
      'see how many of the pairs labelled different are in one cluster of this result. For another result, see how many of the pairs labelled same it finds.';
    const what =
      run.result === undefined
        ? `Run it again with --clusters clusters.jsonl, and ${why}`
        : `${why[0]?.toUpperCase()}${why.slice(1)}`;
    at('steps').append(step(what, run.next.eval));
  }
  const collected =
    run.names === undefined
      ? ''
      : 'Labels name documents by their _id, as extended JSON. Write the collection into a file whose ids are these texts. ';
  at('steps').append(step(`${collected}Choose method and threshold by your labels.`, tune));
  const notes = [
    more > 0 ? `The commands leave out ${plural(more, 'more file')}: add their names.` : undefined,
    unsaid.length > 0
      ? `The commands lack ${unsaid.join(' and ')}, which the run did not take from a file: a command takes words from files only.`
      : undefined,
  ];
  for (const note of notes.reverse()) {
    if (note !== undefined) at('steps').after(h('p', { class: 'note' }, note));
  }
}

themes();
summary();
at('charts').append(...charts(figures, run));
const labels = new Labels(
  `${run.result ?? run.command}:${all.documents}:${found.groups}:${found.duplicates}:${digest('figures')}`,
  (byOther) => {
    labelled();
    if (byOther) browser.refresh();
  },
);
function labelled(): void {
  at('labelled').textContent = labels.size === 0 ? 'No labels yet' : plural(labels.size, 'label');
  at<HTMLButtonElement>('download').disabled = labels.size === 0;
}
labelled();
at('download').addEventListener('click', () => labels.download());
const shown = figures.examples.length;
const which =
  shown < found.groups ? ': the least similar, the largest, and some drawn at random' : '';
at('shown').textContent =
  found.groups === 0
    ? 'There are none.'
    : `${count(shown)} of ${plural(found.groups, areMatches ? 'document' : 'cluster')}${areMatches ? ' with matches' : ''}${which}. Figures above are of all.`;
const browser = new Browser(figures, labels);
browser.start();
after();
