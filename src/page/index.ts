/**
 * The page that compiles and runs whole CUDA programs, as static files that any server can give. One worker compiles (`compile-worker.ts`, with
 * the compiler that `manifest.ts` fetches), another runs each program (`run-worker.ts`, with files in memory) and is ended to stop it. This
 * file has what the user sees and does. `scripts/browser/program-page.ts` makes the files.
 */
import { shellWords } from '../base/shell-words.ts';
import { Editor, type TextFile } from './editor.ts';
import { bytesOverWire, isKept, type Manifest } from './manifest.ts';
import type { BuildOrder, BuildReport, NamedFile, RunOrder, RunReport } from './messages.ts';
import { OutputPane, placeOf } from './terminal.ts';

const byId = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E;
const runButton = byId<HTMLButtonElement>('run');
const stopButton = byId<HTMLButtonElement>('stop');
const chooser = byId<HTMLSelectElement>('examples');
const argumentLine = byId<HTMLInputElement>('arguments');
const input = byId<HTMLTextAreaElement>('input');
const notice = byId('notice');
const status = byId('status');
const written = byId('written');

const manifestUrl = new URL('manifest.json', location.href).href;
const storageKey = 'cumetal-program';
const encoder = new TextEncoder();
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const seconds = (milliseconds: number): string =>
  milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

let compiler: Worker | undefined;
let runner: Worker | undefined;
/** The last program that was compiled, by its files. */
let built: { readonly key: string; readonly module: Uint8Array } | undefined;
let compileTime = '';

const pane = new OutputPane(byId('terminal'), ({ file, line }) => void editor.show(file, line));
const editor = new Editor(
  { tabs: byId('tabs'), gutter: document.querySelector<HTMLElement>('.gutter')!, text: byId<HTMLTextAreaElement>('text') },
  keep,
);

/** Keeps what the user wrote for the next visit. */
function keep(): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify({ files: editor.files, args: argumentLine.value, input: input.value }));
  } catch {
    // A full or forbidden store keeps nothing.
  }
}

function say(text: string, isBad = false): void {
  status.textContent = text;
  status.className = isBad ? 'bad' : '';
}

function setBusy(isBusy: boolean): void {
  runButton.disabled = isBusy;
  stopButton.disabled = !isBusy;
}

const filesOf = (): NamedFile[] => editor.files.map(({ name, text }) => ({ name, bytes: encoder.encode(text) }));
const keyOf = (): string => JSON.stringify(editor.files);

// ── the compiler ──

/** Asks before the large files are fetched, unless the browser has kept them. */
async function start(): Promise<void> {
  setBusy(true);
  pane.clear();
  written.hidden = true;
  byId('time').textContent = '';
  if (built?.key === keyOf()) return run(built.module);
  if (compiler) return compile();
  const manifest = await manifestOf();
  if (!manifest) return setBusy(false);
  if (await isKept(manifest, manifestUrl)) return compile();
  setBusy(false);
  const button = document.createElement('button');
  button.id = 'fetch';
  button.className = 'main';
  button.textContent = 'Fetch it and run';
  button.addEventListener('click', compile);
  const text = `The compiler, clang ${manifest.version} as WebAssembly with its libraries, is ${megabytes(bytesOverWire(manifest))} over the wire. The browser keeps it for the next time.`;
  notice.replaceChildren(text, button);
  notice.hidden = false;
}

async function manifestOf(): Promise<Manifest | undefined> {
  try {
    const response = await fetch(manifestUrl);
    if (!response.ok) throw new Error(`the server says ${response.status}`);
    return (await response.json()) as Manifest;
  } catch (error) {
    say(`manifest.json, which says where the compiler is, cannot be fetched: ${(error as Error).message}`, true);
    return undefined;
  }
}

function compile(): void {
  setBusy(true);
  notice.hidden = true;
  say('starting the compiler');
  if (!compiler) {
    compiler = new Worker(`compile-worker.js#${manifestUrl}`, { type: 'module' });
    compiler.onerror = ({ message }) => failed(message);
  }
  const key = keyOf();
  compiler.onmessage = ({ data }: MessageEvent<BuildReport>) => take(data, key);
  compiler.postMessage({ files: filesOf() } satisfies BuildOrder);
}

function take(report: BuildReport, key: string): void {
  if (report.kind === 'loading') showLoading(report.done, report.all);
  else if (report.kind === 'ready') notice.hidden = true;
  else if (report.kind === 'step') say(`${report.what} …`);
  else if (report.kind === 'failed') failed(report.why);
  else if (report.kind === 'built') {
    compileTime = `compiled in ${seconds(report.milliseconds)}`;
    pane.messages(report.messages);
    editor.mark(
      report.messages
        .split('\n')
        .flatMap((line) => placeOf(line) ?? [])
        .filter(({ isError }) => isError),
    );
    byId('time').textContent = compileTime;
    if (report.module) {
      built = { key, module: report.module };
      run(report.module);
    } else {
      setBusy(false);
      say('The program does not compile.', true);
    }
  }
}

function showLoading(done: number, all: number): void {
  const bar = document.createElement('progress');
  Object.assign(bar, { value: done, max: all });
  notice.replaceChildren(`fetching the compiler: ${megabytes(done)} of ${megabytes(all)}`, bar);
  notice.hidden = false;
}

function failed(why: string): void {
  compiler?.terminate();
  compiler = undefined;
  notice.hidden = true;
  setBusy(false);
  say(why, true);
}

// ── the program ──

function run(module: Uint8Array): void {
  say('running …');
  const worker = new Worker('run-worker.js', { type: 'module' });
  runner = worker;
  const end = (text: string, isBad: boolean): void => {
    worker.terminate();
    runner = undefined;
    pane.flush();
    setBusy(false);
    say(text, isBad);
  };
  worker.onerror = ({ message }) => end(`the program was ended: ${message}`, true);
  worker.onmessage = ({ data }: MessageEvent<RunReport>) => {
    if (data.kind === 'output') pane.write(data.stream, data.bytes);
    else if (data.kind === 'dropped') pane.dropped(data.bytes);
    else if (data.kind === 'failed') end(data.why, true);
    else {
      offer(data.files);
      const time = `ran ${seconds(data.milliseconds)}`;
      byId('time').textContent = compileTime === '' ? time : `${compileTime}, ${time}`;
      compileTime = '';
      end(data.code === undefined ? 'This is no program.' : `exit code ${data.code}`, data.code !== 0);
    }
  };
  // Memory is shared with workers only where the server says that the page is isolated.
  const threads = globalThis.crossOriginIsolated ? navigator.hardwareConcurrency : 1;
  const name = editor.files[0]!.name.replace(/\.\w+$/, '');
  const order: RunOrder = {
    module,
    args: [name, ...shellWords(argumentLine.value)],
    files: filesOf(),
    input: encoder.encode(input.value),
    threads,
  };
  worker.postMessage(order);
}

/** Files that the program wrote, to be saved. */
function offer(files: readonly NamedFile[]): void {
  written.hidden = files.length === 0;
  for (const old of written.querySelectorAll('a')) URL.revokeObjectURL(old.href);
  const links = files.map(({ name, bytes }) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>]));
    link.download = name.replace(/^.*\//, '');
    link.textContent = `${name} (${bytes.length.toLocaleString('en')} bytes)`;
    return link;
  });
  written.replaceChildren('files that the program wrote:', ...links);
}

function stop(): void {
  if (runner) {
    runner.terminate();
    runner = undefined;
    pane.note('\nstopped');
    say('stopped');
  } else {
    compiler?.terminate();
    compiler = undefined;
    notice.hidden = true;
    say('stopped');
  }
  setBusy(false);
}

// ── the start ──

interface Example {
  readonly name: string;
  readonly args: string;
  readonly files: readonly TextFile[];
}

async function begin(): Promise<void> {
  const examples = (await (await fetch('examples.json')).json()) as readonly Example[];
  for (const { name } of examples) chooser.add(new Option(name));
  const open = ({ files, args, input: text = '' }: Pick<Example, 'files' | 'args'> & { readonly input?: string }): void => {
    editor.open(files);
    argumentLine.value = args;
    input.value = text;
  };
  chooser.addEventListener('change', () => {
    const found = examples.find(({ name }) => name === chooser.value);
    if (found) open(found);
    keep();
  });
  open(kept() ?? examples[0]!);
  chooser.value = examples.find(({ files }) => JSON.stringify(files) === keyOf())?.name ?? '';
  document.documentElement.dataset.ready = 'true';
}

function kept(): { readonly files: TextFile[]; readonly args: string; readonly input: string } | undefined {
  try {
    const { files, args, input: text } = JSON.parse(localStorage.getItem(storageKey) ?? '{}');
    const isWhole =
      Array.isArray(files) && files.length > 0 && files.every((file) => typeof file.name === 'string' && typeof file.text === 'string');
    return isWhole ? { files, args: String(args ?? ''), input: String(text ?? '') } : undefined;
  } catch {
    return undefined;
  }
}

runButton.addEventListener('click', () => void start());
stopButton.addEventListener('click', stop);
argumentLine.addEventListener('change', keep);
input.addEventListener('change', keep);
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !runButton.disabled) void start();
});
void begin();
