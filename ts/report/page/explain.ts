/** The page of two texts: what is typed is compared by the command that opened it, on this machine. */
import type { PairTold } from '../../explain/told';
import { compared } from './compare';
import { at, h } from './dom';
import { count, plural, similar } from './format';
import { start as themes } from './themes';

/** Milliseconds without a key before what was typed is compared. */
const QUIET = 150;
/** Tokens shown of each text; the rest is counted. */
const SHOWN = 200;

const token = location.hash.slice(1);
const [first, second] = [at<HTMLTextAreaElement>('a'), at<HTMLTextAreaElement>('b')];
/** What is typed now has not been compared. */
let isDue = false;
let isUnderWay = false;
let waiting: ReturnType<typeof setTimeout> | undefined;

function request(path: string, body?: unknown): Promise<Response> {
  return fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function say(headline: string, reason: string): void {
  at('headline').textContent = headline;
  at('reason').textContent = reason;
  document.title = headline;
}

/** One comparison at a time: what was typed meanwhile is compared after it. */
async function compare(): Promise<void> {
  isDue = true;
  if (isUnderWay) return;
  isUnderWay = true;
  while (isDue) {
    isDue = false;
    await compareNow();
  }
  isUnderWay = false;
}

async function compareNow(): Promise<void> {
  const [a, b] = [first.value, second.value];
  if (a === '' || b === '') {
    at('told').hidden = true;
    return say('Two texts', 'Paste a text into each field.');
  }
  try {
    const answer = await request('/compare', { a, b });
    const told: PairTold | { readonly error: string } = await answer.json();
    if (isDue) return;
    if ('error' in told) {
      at('told').hidden = true;
      return say('Not compared', told.error);
    }
    show(a, b, told);
  } catch {
    gone();
  }
}

function show(a: string, b: string, told: PairTold): void {
  say(told.duplicates ? 'Near-duplicates' : 'Not duplicates', told.reason);
  at('told').hidden = false;
  at('figures').replaceChildren(
    figure('Similarity', similar(told.similarity)),
    figure('Distance', told.distance === undefined ? '–' : `${told.distance} of 64 bits`),
    ...told.fingerprints.map((fingerprint, place) =>
      figure(place === 0 ? 'First fingerprint' : 'Second fingerprint', fingerprint ?? '–', true),
    ),
  );
  const difference = compared(a, b);
  at('places').textContent =
    difference.places === 0 ? 'Nowhere.' : `In ${plural(difference.places, 'place')}.`;
  at('difference').replaceChildren(difference.first, difference.second);
  at('shared').textContent = `${plural(told.shared, 'feature is', 'features are')} in both.`;
  at('features').replaceChildren(tokens(told.onlyA, 'gone'), tokens(told.onlyB, 'new'));
  at('bits').replaceChildren(bits(told.differingBits));
}

function figure(name: string, value: string, isCode = false): HTMLElement {
  return h('div', {}, h('dt', {}, name), h('dd', { class: isCode && 'fingerprint' }, value));
}

function tokens(all: readonly string[], kind: 'gone' | 'new'): HTMLElement {
  if (all.length === 0) return h('p', { class: 'note' }, 'None.');
  const rest = all.length - SHOWN;
  return h(
    'ol',
    { class: `tokens ${kind}` },
    ...all.slice(0, SHOWN).map((token) => h('li', {}, visible(token))),
    rest > 0 ? h('li', {}, `and ${count(rest)} more`) : undefined,
  );
}

/** Space at the edge of a token would look like the gap between two. */
function visible(token: string): string {
  return token.replaceAll(/^\s+|\s+$/gu, (space) => '␣'.repeat(space.length));
}

function bits(all: PairTold['differingBits']): HTMLElement {
  if (all.length === 0) return h('p', { class: 'note' }, 'None.');
  const cell = (text: string) => h('td', {}, text);
  const percent = (margin: number) => `${Math.round(margin * 100)} %`.replace('-', '−');
  return h(
    'table',
    {},
    h(
      'thead',
      {},
      h('tr', {}, ...['Bit', 'First', 'Second'].map((name) => h('th', { scope: 'col' }, name))),
    ),
    h(
      'tbody',
      {},
      ...all.map(({ bit, margins }) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, `${bit}`),
          ...margins.map((one) => cell(percent(one))),
        ),
      ),
    ),
  );
}

function gone(): void {
  at('told').hidden = true;
  say('The command has ended', 'Run explain --open again to compare more.');
}

/** While this page is open the command runs: it sees the connection close. */
async function stay(): Promise<void> {
  try {
    const answer = await request('/alive');
    await answer.body?.getReader().closed;
  } catch {
    // Broken off.
  }
  gone();
}

async function begin(): Promise<void> {
  themes();
  at('kicker').textContent = JSON.parse(at('run').textContent ?? '""');
  const answer = await request('/texts');
  const given: { readonly a?: string; readonly b?: string; readonly error?: string } =
    await answer.json();
  if (given.error !== undefined) return say('Not opened', given.error);
  void stay();
  [first.value, second.value] = [given.a ?? '', given.b ?? ''];
  for (const field of [first, second]) {
    field.addEventListener('input', () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => void compare(), QUIET);
    });
  }
  await compare();
  first.focus();
}

begin().catch(gone);
