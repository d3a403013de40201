/** What the charts share: a frame that is drawn again when its width changes, axes, and scales. */
import { h, svg } from './dom';
import { within } from './ticks';

/** Space around what is drawn: numbers to the left (`123.4M` and `0.25 %` are the widest), names below. */
export const MARGIN = { top: 18, right: 10, bottom: 34, left: 54 } as const;

/** Where a chart draws. */
export interface Area {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A chart with its title, what it says in words, and a note below. */
export interface Chart {
  readonly title: string;
  readonly note: string;
  /** What a screen reader says in place of the drawing. */
  readonly says: string;
  readonly height?: number;
  readonly wide?: boolean;
  draw(area: Area): readonly SVGElement[];
}

const HEIGHT = 220;

/** A chart as an element; it follows the width that it is given. */
export function figure(chart: Chart): HTMLElement {
  const body = h('div', { class: 'plot' });
  const height = chart.height ?? HEIGHT;
  const draw = (width: number) => {
    if (width < 1) return;
    const area: Area = {
      width,
      height,
      left: MARGIN.left,
      right: width - MARGIN.right,
      top: MARGIN.top,
      bottom: height - MARGIN.bottom,
    };
    const attributes = { role: 'img', 'aria-label': chart.says, width, height };
    body.replaceChildren(svg('svg', attributes, ...chart.draw(area)));
  };
  new ResizeObserver(([entry]) => draw(Math.floor(entry?.contentRect.width ?? 0))).observe(body);
  return h(
    'figure',
    { class: chart.wide ? 'wide' : undefined },
    h('figcaption', {}, h('h2', {}, chart.title), h('p', { class: 'note' }, chart.note)),
    body,
  );
}

/** A place for each value of a range. */
export type Scale = (value: number) => number;

export function linear(
  [from, to]: readonly [number, number],
  [a, b]: readonly [number, number],
): Scale {
  const span = to - from || 1;
  return (value) => a + ((value - from) / span) * (b - a);
}

/** The same by orders of magnitude. */
export function logarithmic(
  domain: readonly [number, number],
  range: readonly [number, number],
): Scale {
  const scale = linear([Math.log10(domain[0]), Math.log10(domain[1])], range);
  return (value) => scale(Math.log10(value));
}

/** About `most` round numbers from 0 on, the last not below `top`. */
export function steps(top: number, most = 4): number[] {
  if (top <= 0) return [0, 1];
  const raw = top / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((times) => times * power).find((size) => size >= raw) ?? raw;
  const last = Math.ceil(top / step - 1e-9);
  return Array.from({ length: last + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

/** Lines across, with their numbers. */
export function rules(
  area: Area,
  ticks: readonly number[],
  y: Scale,
  name: (tick: number) => string,
): SVGElement[] {
  return ticks.flatMap((tick, at) => [
    svg('line', {
      class: at === 0 ? 'base' : 'rule',
      x1: area.left,
      x2: area.right,
      y1: y(tick),
      y2: y(tick),
    }),
    svg(
      'text',
      { class: 'tick', x: area.left - 8, y: y(tick) + 4, 'text-anchor': 'end' },
      name(tick),
    ),
  ]);
}

/** A name below the axis, in line with what it is of; the ends stay within the drawing. */
export function below(area: Area, x: number, name: string): SVGElement {
  return svg(
    'text',
    {
      class: 'tick',
      x: within(x, widthOf(name), area.width),
      y: area.bottom + 17,
      'text-anchor': 'middle',
    },
    name,
  );
}

const probe = svg('text', { class: 'tick' });
const widths = new Map<string, number>();

/** The width of a name below an axis, in the font that the reader has. */
export function widthOf(name: string): number {
  const known = widths.get(name);
  if (known !== undefined) return known;
  // Only what is in the page has a width.
  const stand = svg('svg', { class: 'probe', 'aria-hidden': 'true' }, probe);
  probe.textContent = name;
  document.body.append(stand);
  const width = probe.getComputedTextLength();
  stand.remove();
  widths.set(name, width);
  return width;
}

/** What the axis across is of. */
export function caption(area: Area, name: string): SVGElement {
  return svg(
    'text',
    { class: 'tick', x: area.right, y: area.bottom + 31, 'text-anchor': 'end' },
    name,
  );
}

/** What the axis up is of. */
export function head(name: string): SVGElement {
  return svg('text', { class: 'tick', x: 0, y: 9 }, name);
}

/** A line up at a value, with its name at its top. */
export function mark(area: Area, x: number, name: string): SVGElement[] {
  const end = x > area.left + (area.right - area.left) / 2;
  return [
    svg('line', { class: 'mark', x1: x, x2: x, y1: area.top, y2: area.bottom }),
    svg(
      'text',
      {
        class: 'mark-name',
        x: end ? x - 6 : x + 6,
        y: area.top + 10,
        'text-anchor': end ? 'end' : 'start',
      },
      name,
    ),
  ];
}

/** A bar with round upper corners, and what it says when it is pointed at. */
export function bar(
  { x, y, width, height }: { x: number; y: number; width: number; height: number },
  kind: string,
  says: string,
): SVGElement {
  const r = Math.min(2, width / 2, height);
  const path = `M${x} ${y + height}V${y + r}q0 ${-r} ${r} ${-r}H${x + width - r}q${r} 0 ${r} ${r}V${y + height}z`;
  return svg('path', { class: kind, d: path }, svg('title', {}, says));
}
