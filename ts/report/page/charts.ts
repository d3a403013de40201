/** The charts of a report: which there are, and what each says. */
import type { Bar, Figures, Run, Share } from './data';
import { h, svg } from './dom';
import { compact, count, percent, plural, similar } from './format';
import {
  type Area,
  bar,
  below,
  caption,
  figure,
  head,
  linear,
  logarithmic,
  mark,
  rules,
  steps,
  widthOf,
} from './plot';
import { magnitudes, ticks as named, type Unit } from './ticks';

/** Height of the bars that say how many documents there are, below those of their rate. */
const VOLUME = 26;
/** Space between the two. */
const GAP = 22;

/** All charts for which there is something to draw. */
export function charts(figures: Figures, run: Run): HTMLElement[] {
  const { found, lengths, dates, inputs } = figures;
  const what = figures.areMatches ? 'Rate of matches' : 'Duplicate rate';
  const all: (HTMLElement | undefined)[] = [
    inputs.bars.length > 1 ? byInput(figures, what) : undefined,
    dates && dates.bars.length > 0 ? byDate(dates, what) : undefined,
    lengths.length > 0 ? byLength(lengths, what) : undefined,
    found.sizes.length > 0 ? sizes(figures) : undefined,
    found.similarities.some((many) => many > 0) ? similarities(figures, run) : undefined,
    found.distances.some((many) => many > 0) ? distances(figures, run) : undefined,
    run.bands !== undefined && run.rows !== undefined ? curve(run, run.bands, run.rows) : undefined,
  ];
  return all.filter((chart) => chart !== undefined);
}

function says(name: string, share: Share): string {
  const { documents, duplicates } = share;
  return `${name}: ${percent(duplicates, documents)}, ${count(duplicates)} of ${count(documents)}`;
}

function byInput({ inputs, areMatches }: Figures, title: string): HTMLElement {
  const { bars, more, others } = inputs;
  const rows: Bar<string>[] = [...bars];
  if (more > 0) rows.push({ name: `${plural(more, 'other input')}`, ...others });
  const most = Math.max(...rows.map(rate), 1e-9);
  const list = h('div', { class: 'rows' });
  for (const row of rows) {
    const fill = h('span', { class: 'fill' });
    fill.style.width = `${(100 * rate(row)) / most}%`;
    list.append(
      h(
        'div',
        { class: 'row' },
        h('span', { class: 'name' }, h('bdi', {}, row.name)),
        h('span', { class: 'track' }, fill),
        h('span', { class: 'rate' }, percent(row.duplicates, row.documents)),
        h('span', { class: 'of' }, `${count(row.duplicates)} of ${count(row.documents)}`),
      ),
    );
  }
  const note = areMatches
    ? 'New documents that resemble one of the others, by the file they come from.'
    : 'Documents for which another one is kept, by the file they come from.';
  return h(
    'figure',
    { class: 'wide' },
    h('figcaption', {}, h('h2', {}, `${title} by file`), h('p', { class: 'note' }, note)),
    list,
  );
}

function rate({ documents, duplicates }: Share): number {
  return documents === 0 ? 0 : duplicates / documents;
}

function byDate(dates: NonNullable<Figures['dates']>, what: string): HTMLElement {
  const { documents } = dates.undated;
  const without =
    documents > 0
      ? ` ${plural(documents, 'document has', 'documents have')} no date that can be read.`
      : '';
  return rates(
    `${what} by ${dates.unit}`,
    `Above, the share in each ${dates.unit}; below, how many documents it has.${without}`,
    dates.bars,
    true,
    dates.unit,
  );
}

function byLength(lengths: Figures['lengths'], what: string): HTMLElement {
  const bars = lengths.map(({ name, ...share }, at) => {
    const next = lengths[at + 1]?.name;
    return {
      ...share,
      name: compact(name),
      full:
        next === undefined
          ? `${count(name)} characters or more`
          : `${count(name)} to ${count(next - 1)} characters`,
    };
  });
  return rates(
    `${what} by length`,
    'Above, the share in each class of length; below, how many documents it has. A class begins with the number of characters under it.',
    bars,
    lengths.length > 12,
  );
}

/** Rates of classes that have an order, and how many documents are in each. */
function rates(
  title: string,
  note: string,
  bars: readonly (Bar<string> & { readonly full?: string })[],
  wide: boolean,
  unit?: Unit,
): HTMLElement {
  const names = bars.map(({ name }) => name);
  const most = Math.max(...bars.map(rate));
  const largest = Math.max(...bars.map(({ documents }) => documents), 1);
  const height = 232 + GAP;
  const draw = (area: Area) => {
    const floor = area.bottom - VOLUME - GAP;
    const ticks = steps(Math.max(100 * most, 0.1), 3);
    const y = linear([0, ticks.at(-1) ?? 100], [floor, area.top]);
    const step = (area.right - area.left) / bars.length;
    const width = Math.max(1, Math.min(step - Math.min(6, step / 4), 44));
    const volume = linear([0, largest], [0, VOLUME]);
    const { left } = area;
    const items = bars.flatMap((one, at) => {
      const middle = area.left + step * (at + 0.5);
      const x = middle - width / 2;
      const text = says(one.full ?? one.name, one);
      const high = floor - y(100 * rate(one));
      const size = one.documents === 0 ? 0 : Math.max(volume(one.documents), 1);
      const own: SVGElement[] = [];
      if (high > 0)
        own.push(
          bar({ x, y: floor - Math.max(high, 1), width, height: Math.max(high, 1) }, 'bar', text),
        );
      if (size > 0)
        own.push(bar({ x, y: area.bottom - size, width, height: size }, 'volume', text));
      return own;
    });
    return [
      ...rules({ ...area, bottom: floor }, ticks, y, (tick) => `${tick} %`),
      svg('line', {
        class: 'base',
        x1: area.left,
        x2: area.right,
        y1: area.bottom,
        y2: area.bottom,
      }),
      svg('text', { class: 'tick', x: area.left - 8, y: area.bottom, 'text-anchor': 'end' }, '0'),
      svg(
        'text',
        { class: 'tick', x: area.left - 8, y: area.bottom - VOLUME + 8, 'text-anchor': 'end' },
        compact(largest),
      ),
      ...items,
      ...named(names, unit, { left, step, width: area.width }, widthOf).map(({ at, name }) =>
        below(area, left + step * (at + 0.5), name),
      ),
    ];
  };
  const words = bars.map((one) => says(one.full ?? one.name, one)).join('; ');
  return figure({ title, note, says: `${title}. ${words}`, height, wide, draw });
}

function sizes({ found, areMatches }: Figures): HTMLElement {
  const what = areMatches ? 'Matches of a document' : 'Size of clusters';
  const group = areMatches ? 'document' : 'cluster';
  const top = Math.max(...found.sizes.map(([size]) => size));
  const many = Math.max(...found.sizes.map(([, groups]) => groups));
  const draw = (area: Area) => {
    const [across, up] = [magnitudes(top), magnitudes(many)];
    const x = logarithmic([1, across.at(-1) ?? 10], [area.left + 6, area.right - 6]);
    const y = logarithmic([1, up.at(-1) ?? 10], [area.bottom - 8, area.top + 6]);
    const dots = found.sizes.map(([size, groups]) =>
      svg(
        'circle',
        { class: 'dot', cx: x(size), cy: y(groups), r: 3.5 },
        svg('title', {}, `${plural(groups, group)} of ${count(size)}`),
      ),
    );
    return [
      ...rules(area, up, y, compact),
      ...across.map((tick) => below(area, x(tick), compact(tick))),
      caption(area, areMatches ? 'a document and its matches' : 'documents per cluster'),
      head(`${group}s`),
      ...dots,
    ];
  };
  const note = `${plural(found.groups, group)}; the largest has ${count(top)} documents. Both axes are logarithmic.`;
  return figure({ title: what, note, says: `${what}. ${note}`, draw });
}

function similarities({ found }: Figures, run: Run): HTMLElement {
  const measured = found.similarities.slice(0, -1);
  const equal = found.similarities.at(-1) ?? 0;
  const first = measured.findIndex((many) => many > 0);
  const from = Math.min(first < 0 ? 90 : first, Math.round(100 * (run.threshold ?? 1))) - 2;
  const start = Math.max(0, Math.floor(from / 5) * 5);
  const shown = measured.slice(start);
  const draw = (area: Area) => {
    const ticks = steps(Math.max(...shown, 1), 3);
    const y = linear([0, ticks.at(-1) ?? 1], [area.bottom, area.top]);
    const x = linear([start, 100], [area.left, area.right]);
    const step = x(start + 1) - x(start);
    const width = Math.max(step - Math.min(2, step / 4), 1);
    const bars = shown.flatMap((many, at) => {
      if (many === 0) return [];
      const place = start + at;
      const high = Math.max(area.bottom - y(many), 1);
      return [
        bar(
          { x: x(place) + (step - width) / 2, y: area.bottom - high, width, height: high },
          'bar',
          `${similar(place / 100)} to ${similar((place + 1) / 100)}: ${count(many)}`,
        ),
      ];
    });
    const size = 100 - start;
    const between = size > 50 ? 20 : size > 20 ? 10 : 5;
    const names: SVGElement[] = [];
    for (let place = start; place <= 100; place++) {
      if (place % between === 0) names.push(below(area, x(place), (place / 100).toString()));
    }
    return [
      ...rules(area, ticks, y, compact),
      ...bars,
      ...names,
      caption(area, 'similarity'),
      head('duplicates'),
      ...(run.threshold === undefined
        ? []
        : mark(area, x(100 * run.threshold), `threshold ${run.threshold}`)),
    ];
  };
  const same =
    equal > 0
      ? ` ${plural(equal, 'more is', 'more are')} equal after normalisation (similarity 1), and not drawn.`
      : '';
  const unmeasured = found.unmeasured > 0 ? ` ${count(found.unmeasured)} were not measured.` : '';
  const total = measured.reduce((sum, many) => sum + many, 0);
  const note = `${plural(total, 'duplicate')} by similarity to what is kept.${same}${unmeasured}`;
  return figure({ title: 'Similarity', note, says: `Similarity. ${note}`, draw });
}

function distances({ found }: Figures, run: Run): HTMLElement {
  const all = [...found.distances];
  while (all.length <= (run.maxDistance ?? 0)) all.push(0);
  const draw = (area: Area) => {
    const ticks = steps(Math.max(...all, 1), 3);
    const y = linear([0, ticks.at(-1) ?? 1], [area.bottom, area.top]);
    const step = (area.right - area.left) / (all.length + 0.5);
    const width = Math.max(1, Math.min(step - Math.min(4, step / 4), 44));
    const every = Math.max(1, Math.ceil(22 / step));
    const items = all.flatMap((many, distance) => {
      const middle = area.left + step * (distance + 0.5);
      const high = many === 0 ? 0 : Math.max(area.bottom - y(many), 1);
      const own: SVGElement[] = [];
      if (high > 0)
        own.push(
          bar(
            { x: middle - width / 2, y: area.bottom - high, width, height: high },
            'bar',
            `distance ${distance}: ${count(many)}`,
          ),
        );
      if (distance % every === 0) own.push(below(area, middle, `${distance}`));
      return own;
    });
    const end = run.maxDistance;
    return [
      ...rules(area, ticks, y, compact),
      ...items,
      caption(area, 'bits that differ'),
      head('duplicates'),
      ...(end === undefined ? [] : mark(area, area.left + step * (end + 1), `at most ${end}`)),
    ];
  };
  const total = all.reduce((sum, many) => sum + many, 0);
  const note = `${plural(total, 'duplicate')} by the bits in which the two fingerprints of 64 bits differ.`;
  return figure({ title: 'Hamming distance', note, says: `Hamming distance. ${note}`, draw });
}

/** The chance that a pair of some similarity shares a band, and so is compared at all. */
function curve(run: Run, bands: number, rows: number): HTMLElement {
  const chance = (share: number) => 1 - (1 - share ** rows) ** bands;
  // A threshold of another measure has no place on this axis.
  const threshold = (run.measure ?? 'jaccard') === 'jaccard' ? run.threshold : undefined;
  const missed = threshold === undefined ? undefined : 1 - chance(threshold);
  const draw = (area: Area) => {
    const y = linear([0, 100], [area.bottom, area.top]);
    const x = linear([0, 1], [area.left, area.right]);
    const points = Array.from(
      { length: 101 },
      (_, at) => `${x(at / 100).toFixed(1)} ${y(100 * chance(at / 100)).toFixed(1)}`,
    );
    const dot =
      threshold === undefined
        ? []
        : [svg('circle', { class: 'dot', cx: x(threshold), cy: y(100 * chance(threshold)), r: 4 })];
    const names = [0, 0.2, 0.4, 0.6, 0.8, 1];
    return [
      ...rules(area, [0, 25, 50, 75, 100], y, (tick) => `${tick} %`),
      ...names.map((name) => below(area, x(name), `${name}`)),
      caption(area, 'Jaccard similarity'),
      svg('path', {
        class: 'area',
        d: `M${area.left} ${area.bottom}L${points.join('L')}L${area.right} ${area.bottom}z`,
      }),
      svg('path', { class: 'line', d: `M${points.join('L')}` }),
      ...(threshold === undefined
        ? []
        : // Its name stands above 100 %, where the curve is not.
          mark({ ...area, top: area.top - 16 }, x(threshold), `threshold ${threshold}`)),
      ...dot,
    ];
  };
  const at =
    threshold === undefined || missed === undefined
      ? ''
      : ` Of pairs just at the threshold ${missed < 1e-4 ? 'fewer than one in ten thousand is' : `${percent(missed, 1)} are`} missed.`;
  const note = `The chance that a pair is compared, by its Jaccard similarity: ${plural(bands, 'band')} of ${plural(rows, 'row')}.${at}`;
  return figure({ title: 'What the bands find', note, says: `What the bands find. ${note}`, draw });
}
