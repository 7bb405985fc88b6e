/**
 * The page of kernels: PTX on the left, what it becomes on the right with the lines that belong together, findings below. A worker checks,
 * compiles and launches (`worker.ts`); this file has what the user sees and does. `scripts/browser/explore-page.ts` makes the files.
 */

import { Bands } from './bands.ts';
import { linked, linkOf } from './link.ts';
import { Margin } from './margin.ts';
import type { Answer, Finding, Order } from './messages.ts';

const byId = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E;
const text = byId<HTMLTextAreaElement>('text');
const view = byId('view');
const list = byId('list');
const tip = byId('tip');
const status = byId('status');
const chooser = byId<HTMLSelectElement>('examples');
const runButton = byId<HTMLButtonElement>('run');
const compareButton = byId<HTMLButtonElement>('compare');

const storageKey = 'cumetal-explore';
/** Milliseconds without a key before the text is compiled. */
const pause = 150;

const worker = new Worker('explore-worker.js', { type: 'module' });
const margin = new Margin(byId('numbers'), text);
const bands = new Bands({ text, view, left: byId('left-bands'), right: byId('right-bands') });
let chosen = 'msl';
let number = 0;
/** The newest orders: answers to older ones are out of date. */
const newest = { show: 0, hover: 0, run: 0, compare: 0 };

/** Buttons that wait for a launch. */
function setBusy(isBusy: boolean): void {
  runButton.disabled = isBusy;
  compareButton.disabled = isBusy;
}

type WithoutNumber<O> = O extends Order ? Omit<O, 'number'> : never;
function send(order: WithoutNumber<Order>): void {
  newest[order.kind] = ++number;
  worker.postMessage({ ...order, number } as Order);
}

function say(words: string, isBad = false): void {
  status.textContent = words;
  status.className = isBad ? 'bad' : '';
}

// ── the text ──

let timer: ReturnType<typeof setTimeout> | undefined;
function changed(): void {
  clearTimeout(timer);
  bands.clear();
  margin.draw();
  timer = setTimeout(show, pause);
}

function show(): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify({ text: text.value, view: chosen }));
  } catch {
    // A full or forbidden store keeps nothing.
  }
  send({ kind: 'show', text: text.value, view: chosen });
}

function open(source: string): void {
  text.value = source;
  text.scrollTop = 0;
  margin.clearHeat();
  list.replaceChildren();
  changed();
}

// ── answers ──

worker.onerror = ({ message }) => say(message, true);
worker.onmessage = ({ data }: MessageEvent<Answer>) => {
  if (data.kind === 'shown' && data.number === newest.show) shown(data);
  else if (data.kind === 'hovered' && data.number === newest.hover) showTip(data.markdown);
  else if (data.kind === 'ran' && data.number === newest.run) ran(data, true);
  else if (data.kind === 'ran' && data.number === newest.compare) ran(data, false);
  else if (data.kind === 'failed') {
    setBusy(false);
    say(data.why, true);
  }
};

function shown({ findings, view: made, milliseconds }: Answer & { kind: 'shown' }): void {
  margin.mark(findings);
  listFindings(findings, '');
  byId('time').textContent = `${Math.round(milliseconds)} ms`;
  if (made) {
    view.textContent = made.text;
    bands.match(made.lines);
    say('');
  } else {
    bands.clear();
    say(findings.some(({ severity }) => severity === 'error') ? 'This does not compile.' : '', true);
  }
  document.documentElement.dataset.ready = String(newest.show);
}

function ran({ output, findings, heat, isFine, number: which }: Answer & { kind: 'ran' }, isObserved: boolean): void {
  setBusy(false);
  margin.mark(findings);
  margin.heat(heat);
  listFindings(findings, output);
  const fine = isObserved ? 'The sanitizer found nothing. The margin shows how often lines ran.' : '';
  say(isFine ? fine : 'The launch has findings.', !isFine);
  document.documentElement.dataset.ran = String(which);
}

function listFindings(findings: readonly Finding[], output: string): void {
  const rows = findings.map(({ line, column, severity, code, message }) => {
    const row = document.createElement('div');
    row.className = severity;
    const head = document.createElement('b');
    head.textContent = `${severity}[${code}]`;
    row.append(line > 0 ? `${line}:${column} ` : '', head, ` ${message}`);
    if (line > 0) row.dataset.line = String(line);
    return row;
  });
  const result = document.createElement('div');
  result.textContent = output;
  list.replaceChildren(...rows, ...(output === '' ? [] : [result]));
}

list.addEventListener('click', (event) => {
  const line = Number((event.target as Element).closest<HTMLElement>('[data-line]')?.dataset.line ?? 0);
  if (line > 0) margin.show(line);
});

// ── words under the pointer ──

let resting: ReturnType<typeof setTimeout> | undefined;
text.addEventListener('mousemove', (event) => {
  tip.hidden = true;
  clearTimeout(resting);
  const offset = bands.offsetAt(event.clientX, event.clientY);
  if (offset === undefined || !/[\w$%.]/.test(text.value[offset] ?? '')) return;
  resting = setTimeout(() => {
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - 420)}px`;
    tip.style.top = `${event.clientY + 16}px`;
    send({ kind: 'hover', text: text.value, offset });
  }, 300);
});
text.addEventListener('mouseleave', () => {
  clearTimeout(resting);
  tip.hidden = true;
});

function showTip(markdown: string | undefined): void {
  tip.hidden = markdown === undefined;
  tip.textContent = (markdown ?? '')
    .replace(/```(?:ptx)?\n?/g, '')
    .replaceAll('`', '')
    .trim();
}

// ── the start ──

interface Start {
  readonly views: readonly { readonly name: string; readonly title: string }[];
  readonly examples: readonly { readonly name: string; readonly text: string }[];
}

function choose(name: string, views: Start['views']): void {
  chosen = views.some((each) => each.name === name) ? name : 'msl';
  for (const tab of byId('views').querySelectorAll('button')) tab.setAttribute('aria-selected', String(tab.dataset.view === chosen));
}

async function begin(): Promise<void> {
  const { views, examples } = (await (await fetch('start.json')).json()) as Start;
  for (const { name, title } of views) {
    const tab = document.createElement('button');
    tab.textContent = title;
    tab.dataset.view = name;
    tab.setAttribute('role', 'tab');
    tab.addEventListener('click', () => {
      choose(name, views);
      show();
    });
    byId('views').append(tab);
  }
  for (const { name } of examples) chooser.add(new Option(name));
  chooser.addEventListener('change', () => open(examples.find(({ name }) => name === chooser.value)?.text ?? ''));
  const carried = await linked(location.hash);
  if (location.hash.includes('ptx=') && !carried) say('The link is damaged: it carries no text.', true);
  const first = carried ?? kept() ?? { text: examples.find(({ name }) => name === 'reduce')?.text ?? examples[0]!.text, view: 'msl' };
  choose(first.view, views);
  chooser.value = examples.find((each) => each.text === first.text)?.name ?? '';
  open(first.text);
}

function kept(): { readonly text: string; readonly view: string } | undefined {
  try {
    const { text: source, view: name } = JSON.parse(localStorage.getItem(storageKey) ?? '{}');
    return typeof source === 'string' && source !== '' ? { text: source, view: String(name) } : undefined;
  } catch {
    return undefined;
  }
}

text.addEventListener('input', () => {
  margin.clearHeat();
  changed();
});
for (const [button, kind] of [
  [runButton, 'run'],
  [compareButton, 'compare'],
] as const)
  button.addEventListener('click', () => {
    setBusy(true);
    say('running …');
    send({ kind, text: text.value });
  });
byId('share').addEventListener('click', async () => {
  const hash = await linkOf(text.value, chosen);
  history.replaceState(undefined, '', hash);
  try {
    await navigator.clipboard.writeText(location.href);
    say('The link is in the clipboard. It carries the text; no server sees it.');
  } catch {
    say('The address of this page is the link. It carries the text; no server sees it.');
  }
});
void begin();
