/** Clusters with their texts: a list, two texts side by side, and what a person says of them. */
import { byAlike, howAlike } from './alike';
import { compared, plain } from './compare';
import type { Example, Figures, Member } from './data';
import { at, h, replace } from './dom';
import { count, plural, similar } from './format';
import type { Label, Labels } from './labels';

/** Clusters of the list that are drawn at once: more when they are asked for. */
const DRAWN = 100;
/** Characters of a text in the list. */
const GLIMPSE = 80;

type Order = 'file' | 'similarity' | 'size';

/** What a reader looks at. */
interface Cluster {
  readonly number: number;
  readonly example: Example;
  /** The member that is least alike, if there is one. */
  readonly least: Member;
  /** What is said of how alike its members are. */
  readonly alike: string | undefined;
  /** Ids and texts, to be searched; made when it is first asked for. */
  words?: string;
}

export class Browser {
  readonly #figures: Figures;
  readonly #labels: Labels;
  readonly #all: readonly Cluster[];
  #found: readonly Cluster[] = [];
  #drawn = DRAWN;
  #cluster = 0;
  #member = 1;

  constructor(figures: Figures, labels: Labels) {
    this.#figures = figures;
    this.#labels = labels;
    this.#all = figures.examples.map(({ members: [first, ...others], ...example }, number) => {
      // What is nearest to the threshold is what a person should judge first.
      const sorted = others.sort(byAlike);
      const members = first === undefined ? sorted : [first, ...sorted];
      const alike = howAlike(sorted);
      return { number, example: { ...example, members }, least: sorted[0] ?? {}, alike };
    });
  }

  /** Fills the page, and listens. */
  start(): void {
    const { areMatches } = this.#figures;
    const kinds = new Set(this.#all.map(({ example }) => example.why));
    at('filter').append(
      h('option', { value: 'all' }, 'All of them'),
      ...(kinds.has('near') ? [h('option', { value: 'near' }, 'Least similar')] : []),
      ...(kinds.has('large') ? [h('option', { value: 'large' }, 'Largest')] : []),
      ...(kinds.has('chance') ? [h('option', { value: 'chance' }, 'Drawn at random')] : []),
      h('option', { value: 'labelled' }, 'Labelled'),
      h('option', { value: 'open' }, 'Not labelled'),
    );
    at('order').append(
      h('option', { value: 'similarity' }, 'Least similar first'),
      h('option', { value: 'size' }, areMatches ? 'Most matches first' : 'Largest first'),
      h('option', { value: 'file' }, 'As in the file'),
    );
    for (const id of ['filter', 'order']) at(id).addEventListener('change', () => this.#search());
    at('search').addEventListener('input', () => this.#search());
    at('more').addEventListener('click', () => {
      this.#drawn += DRAWN;
      this.#list();
    });
    document.addEventListener('keydown', (event) => this.#key(event));
    this.#search();
  }

  /** Shows labels that another window has changed. */
  refresh(): void {
    this.#list();
    this.#look();
  }

  #search(): void {
    const words = at<HTMLInputElement>('search').value.normalize('NFKC').toLowerCase().trim();
    const filter = at<HTMLSelectElement>('filter').value;
    const found = this.#all.filter((cluster) => {
      const { why } = cluster.example;
      if (filter === 'labelled' || filter === 'open') {
        if (this.#isLabelled(cluster) !== (filter === 'labelled')) return false;
      } else if (filter !== 'all' && filter !== why) return false;
      return words === '' || wordsOf(cluster).includes(words);
    });
    const order = at<HTMLSelectElement>('order').value as Order;
    if (order === 'similarity')
      found.sort((a, b) => byAlike(a.least, b.least) || a.number - b.number);
    if (order === 'size')
      found.sort((a, b) => b.example.size - a.example.size || a.number - b.number);
    this.#found = found;
    this.#drawn = DRAWN;
    this.#cluster = 0;
    this.#member = 1;
    at('matches').textContent =
      found.length === 0
        ? 'Nothing like that.'
        : found.length === this.#all.length
          ? ''
          : `${plural(found.length, 'result')}`;
    this.#list();
    this.#look();
  }

  #isLabelled({ example }: Cluster): boolean {
    return example.members.some((member) => {
      const pair = pairOf(example, member);
      return pair !== undefined && this.#labels.of(pair) !== undefined;
    });
  }

  #list(): void {
    const items = this.#found.slice(0, this.#drawn).map((cluster, place) => {
      const { members, size } = cluster.example;
      const first = members[0];
      const glimpse = first?.text?.slice(0, GLIMPSE).replaceAll(/\s+/g, ' ').trim();
      const button = h(
        'button',
        {
          type: 'button',
          class: 'item',
          'aria-current': place === this.#cluster ? 'true' : undefined,
        },
        h(
          'span',
          { class: 'glimpse' },
          h('bdi', {}, glimpse || first?.id || 'not among the inputs'),
        ),
        h(
          'span',
          { class: 'facts' },
          h(
            'span',
            {},
            this.#figures.areMatches
              ? plural(size - 1, 'match', 'matches')
              : plural(size, 'document'),
          ),
          cluster.alike === undefined ? undefined : h('span', {}, cluster.alike),
          this.#isLabelled(cluster) ? h('span', { class: 'done' }, 'labelled') : undefined,
        ),
      );
      button.addEventListener('click', () => this.#go(place, 1, false));
      return h('li', {}, button);
    });
    replace(at('list'), ...items);
    at('more').hidden = this.#found.length <= this.#drawn;
  }

  /** Shows a cluster, and of it a member. */
  #go(cluster: number, member: number, scrolls: boolean): void {
    const last = this.#found.length - 1;
    if (last < 0) return;
    this.#cluster = Math.max(0, Math.min(cluster, last));
    if (this.#cluster >= this.#drawn) {
      this.#drawn = this.#cluster + DRAWN;
      this.#list();
    }
    const most = (this.#found[this.#cluster]?.example.members.length ?? 1) - 1;
    this.#member = Math.max(1, Math.min(member, most));
    const items = [...at('list').querySelectorAll('.item')];
    for (const [place, item] of items.entries()) {
      if (place === this.#cluster) item.setAttribute('aria-current', 'true');
      else item.removeAttribute('aria-current');
    }
    if (scrolls) items[this.#cluster]?.scrollIntoView({ block: 'nearest' });
    this.#look();
  }

  #look(): void {
    const cluster = this.#found[this.#cluster];
    if (cluster === undefined) {
      replace(
        at('look'),
        h(
          'p',
          { class: 'empty' },
          this.#all.length === 0
            ? 'There is nothing to show.'
            : 'Nothing like that. Change the search or the filter.',
        ),
      );
      return;
    }
    const { example } = cluster;
    const [first, second] = [example.members[0], example.members[this.#member]];
    if (first === undefined || second === undefined) return;
    replace(at('look'), this.#members(example), this.#pair(example, first, second));
  }

  /** The members, to choose which one is compared with the first. */
  #members(example: Example): HTMLElement {
    const { members, size } = example;
    const { areMatches } = this.#figures;
    const chips = members.slice(1).map((member, at) => {
      const pair = pairOf(example, member);
      const label = pair && this.#labels.of(pair);
      const { similarity, distance } = member;
      const name = similarity === undefined ? `${at + 1}` : similar(similarity);
      const said = [
        `${areMatches ? 'Match' : 'Member'} ${at + 1}`,
        similarity === undefined ? undefined : `similarity ${name}`,
        distance === undefined ? undefined : `distance ${distance}`,
        label === undefined ? undefined : `labelled ${label}`,
      ];
      const chip = h(
        'button',
        {
          type: 'button',
          class: `chip ${label ?? ''}`,
          'aria-pressed': at + 1 === this.#member ? 'true' : 'false',
          'aria-label': said.filter((part) => part !== undefined).join(', '),
        },
        name,
      );
      chip.addEventListener('click', () => this.#go(this.#cluster, at + 1, false));
      return chip;
    });
    const hidden = size - members.length;
    return h(
      'div',
      { class: 'members' },
      h('span', { class: 'what' }, `${areMatches ? 'Matches' : 'Members'}, least similar first`),
      h('div', { class: 'chips' }, ...chips),
      hidden > 0
        ? h('span', { class: 'note' }, `${count(hidden)} more, nearer to it, are not in this page`)
        : undefined,
    );
  }

  #pair(example: Example, first: Member, second: Member): HTMLElement {
    const { areMatches } = this.#figures;
    const texts = [first.text, second.text] as const;
    const [a, b] = texts;
    const difference = a === undefined || b === undefined ? undefined : compared(a, b);
    const isCut = [first, second].some(
      ({ text, length }) => text !== undefined && [...text].length < (length ?? 0),
    );
    const said =
      difference === undefined ? undefined : differences(difference.places, isCut, second);
    const sides = h(
      'div',
      { class: 'sides' },
      this.#side(
        areMatches ? 'New document' : 'Kept',
        first,
        difference?.first ?? (a === undefined ? undefined : plain(a)),
      ),
      this.#side(
        areMatches ? 'Match' : 'Duplicate',
        second,
        difference?.second ?? (b === undefined ? undefined : plain(b)),
      ),
    );
    const facts = [
      second.similarity === undefined ? undefined : `similarity ${similar(second.similarity)}`,
      second.distance === undefined ? undefined : `distance ${second.distance}`,
      said,
    ].filter((fact) => fact !== undefined);
    return h(
      'div',
      { class: 'pair' },
      h('p', { class: 'facts' }, ...facts.map((fact) => h('span', {}, fact))),
      sides,
      this.#judge(example, second),
    );
  }

  #side(what: string, member: Member, text: HTMLElement | undefined): HTMLElement {
    const { id, input, line, length } = member;
    if (id === undefined) {
      const missing = 'The inputs of this report do not have this document.';
      return h(
        'article',
        { class: 'side' },
        h('header', {}, h('h3', {}, what)),
        h('p', { class: 'empty' }, missing),
      );
    }
    const shown = member.text === undefined ? 0 : [...member.text].length;
    const size =
      member.text !== undefined && shown < (length ?? 0)
        ? `first ${count(shown)} of ${count(length ?? 0)} characters`
        : plural(length ?? 0, 'character');
    const place = input === undefined ? '' : (this.#figures.names[input] ?? '');
    return h(
      'article',
      { class: 'side' },
      h(
        'header',
        {},
        h('h3', {}, what),
        h('p', { class: 'id' }, h('bdi', {}, id)),
        h('p', { class: 'note' }, h('bdi', {}, `${place}:${line}`), ` · ${size}`),
      ),
      text ?? h('p', { class: 'empty' }, 'This report holds no texts.'),
    );
  }

  #judge(example: Example, member: Member): HTMLElement {
    const pair = pairOf(example, member);
    if (pair === undefined)
      return h('p', { class: 'note' }, 'A pair can be labelled where both documents are there.');
    const label = this.#labels.of(pair);
    const button = (value: Label, name: string, key: string) => {
      const one = h(
        'button',
        {
          type: 'button',
          class: `verdict ${value}`,
          'aria-pressed': label === value ? 'true' : 'false',
        },
        name,
        h('kbd', { 'aria-hidden': 'true' }, key),
      );
      one.addEventListener('click', () => this.#say(label === value ? undefined : value));
      return one;
    };
    return h(
      'div',
      { class: 'judge', role: 'group', 'aria-label': 'Are these two the same?' },
      h('span', { class: 'what' }, 'Are these two the same?'),
      button('same', 'Same', 's'),
      button('different', 'Different', 'd'),
    );
  }

  /** Labels the pair that is shown; what is labelled by a key goes on to the next. */
  #say(label: Label | undefined, goesOn = false): void {
    const example = this.#found[this.#cluster]?.example;
    const member = example?.members[this.#member];
    const pair = example && member && pairOf(example, member);
    if (example === undefined || pair === undefined) return;
    this.#labels.set(pair, label);
    this.#list();
    if (!goesOn) this.#look();
    else if (this.#member + 1 < example.members.length)
      this.#go(this.#cluster, this.#member + 1, true);
    else if (this.#cluster + 1 < this.#found.length) this.#go(this.#cluster + 1, 1, true);
    else this.#look();
  }

  #key(event: KeyboardEvent): void {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isField = target instanceof HTMLElement && target.matches('input, select, textarea');
    if (isField) {
      if (key === 'Escape') target.blur();
      return;
    }
    // A key that is held goes through the pairs, but labels only one.
    if (event.repeat && (key === 's' || key === 'd')) return;
    const action = {
      j: () => this.#go(this.#cluster + 1, 1, true),
      k: () => this.#go(this.#cluster - 1, 1, true),
      l: () => this.#go(this.#cluster, this.#member + 1, true),
      h: () => this.#go(this.#cluster, this.#member - 1, true),
      s: () => this.#say('same', true),
      d: () => this.#say('different', true),
      u: () => this.#say(undefined),
      '/': () => at('search').focus(),
    }[key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  }
}

/** What the difference of two texts is, in words. */
function differences(places: number, isCut: boolean, { similarity }: Member): string {
  if (places > 0) return plural(places, 'place differs', 'places differ');
  if (isCut) return 'alike as far as they are shown';
  return similarity === 1
    ? 'every character alike'
    : 'alike but for what the difference does not show';
}

/** The pair that a label is of: the first document and a member. */
function pairOf({ members }: Example, member: Member): { a: string; b: string } | undefined {
  const [a, b] = [members[0]?.id, member.id];
  return a === undefined || b === undefined || member === members[0] ? undefined : { a, b };
}

function wordsOf(cluster: Cluster): string {
  cluster.words ??= cluster.example.members
    .map(({ id = '', text = '' }) => `${id}\n${text}`)
    .join('\n')
    .normalize('NFKC')
    .toLowerCase();
  return cluster.words;
}
