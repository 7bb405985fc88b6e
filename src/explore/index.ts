/**
 * The page of kernels: PTX on the left, what it becomes on the right with the lines that belong together, findings below. A worker checks,
 * compiles and launches (`worker.ts`); this file has what the user sees and does. `scripts/browser/explore-page.ts` makes the files.
 */

import { Bands } from './bands.ts';
import { type Carried, type Language, linked, linkOf } from './link.ts';
import { Margin } from './margin.ts';
import type { Answer, Finding, Order } from './messages.ts';
import type { Translation } from './translation.ts';
import { Translator } from './translator.ts';

const byId = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E;
const text = byId<HTMLTextAreaElement>('text');
const view = byId('view');
const list = byId('list');
const tip = byId('tip');
const status = byId('status');
const chooser = byId<HTMLSelectElement>('examples');
const languages = byId<HTMLSelectElement>('language');
const runButton = byId<HTMLButtonElement>('run');
const compareButton = byId<HTMLButtonElement>('compare');

const storageKey = 'cumetal-explore';
/** Milliseconds without a key before the text is compiled. */
const pauses: Readonly<Record<Language, number>> = { ptx: 150, cuda: 500 };

const worker = new Worker('explore-worker.js', { type: 'module' });
const margin = new Margin(byId('numbers'), text);
const bands = new Bands({ text, view, left: byId('left-bands'), right: byId('right-bands') });
let chosen = 'msl';
let language: Language = 'ptx';
let translator: Translator | undefined;
/** The PTX of CUDA C++ on the left, as it was when it was last compiled. */
let translation: Translation | undefined;
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
  timer = setTimeout(() => void translate(), pauses[language]);
}

/** Compiles CUDA C++ to PTX, and shows what that becomes. */
async function translate(): Promise<void> {
  translation = undefined;
  if (language === 'ptx' || !translator) return show();
  try {
    translation = await translator.translate(text.value);
  } catch (error) {
    return say((error as Error).message, true);
  }
  if (translation.ptx !== undefined) return show();
  // Answers to earlier orders are out of date.
  newest.show = ++number;
  shown({ kind: 'shown', number, findings: [], view: undefined, milliseconds: 0 });
}

/** The PTX of the page. */
const ptx = (): string => (language === 'ptx' ? text.value : (translation?.ptx ?? ''));

/** The line of the text that a line of the PTX comes from. */
const lineOfText = (line: number): number => (language === 'ptx' ? line : (translation?.lines[line - 1] ?? 0));
const placed = (finding: Finding): Finding => (language === 'ptx' ? finding : { ...finding, line: lineOfText(finding.line), column: 0 });

function show(): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify({ text: text.value, view: chosen, language } satisfies Carried));
  } catch {
    // A full or forbidden store keeps nothing.
  }
  send({ kind: 'show', text: ptx(), view: chosen });
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

function shown({ findings: ofPtx, view: made, milliseconds }: Answer & { kind: 'shown' }): void {
  const findings = [...(translation?.findings ?? []), ...ofPtx.map(placed)];
  margin.mark(findings);
  listFindings(findings, '');
  byId('time').textContent = `${Math.round(milliseconds)} ms`;
  if (made) {
    view.textContent = made.text;
    bands.match(made.lines.map(lineOfText));
    say('');
  } else {
    bands.clear();
    say(findings.some(({ severity }) => severity === 'error') ? 'This does not compile.' : '', true);
  }
  document.documentElement.dataset.ready = String(newest.show);
}

function ran({ output, findings: ofPtx, heat, isFine, number: which }: Answer & { kind: 'ran' }, isObserved: boolean): void {
  setBusy(false);
  const findings = ofPtx.map(placed);
  margin.mark(findings);
  margin.heat(heatOfText(heat));
  listFindings(findings, output);
  const fine = isObserved ? 'The sanitizer found nothing. The margin shows how often lines ran.' : '';
  say(isFine ? fine : 'The launch has findings.', !isFine);
  document.documentElement.dataset.ran = String(which);
}

/** Of the PTX lines of a line of the text, the one that ran most often counts. */
function heatOfText(heat: (Answer & { kind: 'ran' })['heat']): (readonly [line: number, warps: number])[] {
  const found = new Map<number, number>();
  for (const [line, warps] of heat) found.set(lineOfText(line), Math.max(warps, found.get(lineOfText(line)) ?? 0));
  found.delete(0);
  return [...found];
}

function listFindings(findings: readonly Finding[], output: string): void {
  const rows = findings.map(({ line, column, severity, code, message }) => {
    const row = document.createElement('div');
    row.className = severity;
    const head = document.createElement('b');
    head.textContent = `${severity}[${code}]`;
    row.append(line > 0 ? `${line}${column > 0 ? `:${column}` : ''} ` : '', head, ` ${message}`);
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
  if (language !== 'ptx') return;
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
  readonly examples: Readonly<Record<Language, readonly { readonly name: string; readonly text: string }[]>>;
  /** The folder of the compiler of CUDA C++. */
  readonly compiler?: string;
}

/** Chooses a view; the PTX itself is one beside CUDA C++. */
function choose(name: string, { views }: Start): void {
  const has = (wanted: string): boolean => views.some((each) => each.name === wanted && (language === 'cuda' || wanted !== 'given'));
  chosen = has(name) ? name : 'msl';
  for (const tab of byId('views').querySelectorAll('button')) {
    tab.setAttribute('aria-selected', String(tab.dataset.view === chosen));
    tab.hidden = !has(tab.dataset.view!);
  }
}

/** Takes a language, with its examples. */
function speak(wanted: Language, start: Start): void {
  language = translator ? wanted : 'ptx';
  languages.value = language;
  byId('name').textContent = `kernel.${language === 'cuda' ? 'cu' : 'ptx'}`;
  text.setAttribute('aria-label', language === 'cuda' ? 'CUDA C++' : 'PTX');
  chooser.replaceChildren(...start.examples[language].map(({ name }) => new Option(name)));
  choose(chosen, start);
}

async function begin(): Promise<void> {
  const start = (await (await fetch('start.json')).json()) as Start;
  const { views, examples, compiler } = start;
  if (compiler !== undefined) translator = new Translator(compiler, say);
  byId('languages').hidden = compiler === undefined;
  for (const { name, title } of views) {
    const tab = document.createElement('button');
    tab.textContent = title;
    tab.dataset.view = name;
    tab.setAttribute('role', 'tab');
    tab.addEventListener('click', () => {
      choose(name, start);
      show();
    });
    byId('views').append(tab);
  }
  chooser.addEventListener('change', () => open(examples[language].find(({ name }) => name === chooser.value)?.text ?? ''));
  languages.addEventListener('change', () => {
    speak(languages.value as Language, start);
    open(examples[language][0]!.text);
  });
  const carried = await linked(location.hash);
  const isDamaged = /[#&](ptx|cuda)=/.test(location.hash) && !carried;
  if (isDamaged) say('The link is damaged: it carries no text.', true);
  if (carried?.language === 'cuda' && !translator) say('The link carries CUDA C++, and this page has no compiler for it.', true);
  const usual = examples.ptx.find(({ name }) => name === 'reduce') ?? examples.ptx[0]!;
  const first = [carried, kept()].find((each) => each && (each.language === 'ptx' || translator)) ?? {
    text: usual.text,
    view: 'msl',
    language: 'ptx' as const,
  };
  speak(first.language, start);
  choose(first.view, start);
  chooser.value = examples[language].find((each) => each.text === first.text)?.name ?? '';
  open(first.text);
}

function kept(): Carried | undefined {
  try {
    const { text: source, view: name, language: of } = JSON.parse(localStorage.getItem(storageKey) ?? '{}');
    const isText = typeof source === 'string' && source !== '';
    return isText ? { text: source, view: String(name), language: of === 'cuda' ? 'cuda' : 'ptx' } : undefined;
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
    send({ kind, text: ptx() });
  });
byId('share').addEventListener('click', async () => {
  const hash = await linkOf({ text: text.value, view: chosen, language });
  history.replaceState(undefined, '', hash);
  try {
    await navigator.clipboard.writeText(location.href);
    say('The link is in the clipboard. It carries the text; no server sees it.');
  } catch {
    say('The address of this page is the link. It carries the text; no server sees it.');
  }
});
void begin();
