/** The page that compiles and runs whole CUDA programs, in Chromium: what a user does there, and what is seen. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { programPage } from '../../scripts/browser/program-page.ts';
import { driven } from '../support/browser/driven.ts';
import { need } from '../support/need.ts';

const test = suite('browser/program-page');

/** What the page shows after an action. */
interface Seen {
  readonly output: string;
  readonly status: string;
  readonly notice: string;
  /** Numbers of lines that are marked. */
  readonly marked: string;
  /** The text that is chosen in the editor. */
  readonly chosen: string;
  readonly written: string;
  readonly milliseconds: number;
}

/** Drives the page in a frame: programs by the name of the step; `act` is a function of the step as text. */
const driver = `
const frame = document.createElement('iframe');
frame.width = 1200; frame.height = 800; frame.src = 'index.html';
document.body.append(frame);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const page = () => frame.contentDocument;
const byId = (id) => page().getElementById(id);
async function until(test) { while (!test()) await pause(20); }
const isIdle = () => !byId('run').disabled;
const type = (id, text) => { const field = byId(id); field.value = text; field.dispatchEvent(new Event('input')); field.dispatchEvent(new Event('change')); };
async function run({ source, args = '', input = '' }) {
  if (source !== undefined) type('text', source);
  type('arguments', args); type('input', input);
  byId('run').click();
  await until(() => !isIdle() || !byId('notice').hidden);
}
const seen = (start) => ({ output: byId('terminal').textContent, status: byId('status').textContent, notice: byId('notice').hidden ? '' : byId('notice').textContent,
  marked: [...page().querySelectorAll('.gutter b')].map((each) => each.textContent).join(' '),
  chosen: byId('text').value.slice(byId('text').selectionStart, byId('text').selectionEnd),
  written: byId('written').hidden ? '' : byId('written').textContent, milliseconds: Math.round(performance.now() - start) });
const report = (value) => fetch('report', { method: 'POST', body: JSON.stringify(value) });
try {
  await until(() => page()?.documentElement?.dataset.ready);
  const all = [];
  for (const step of await (await fetch('steps')).json()) {
    const start = performance.now();
    if (step.reload) { delete page().documentElement.dataset.ready; frame.contentWindow.location.reload(); await until(() => page()?.documentElement?.dataset.ready); }
    if (step.source !== undefined || step.run) await run(step);
    if (step.press) byId(step.press).click();
    if (step.stopAfter) { await until(() => byId('terminal').textContent.includes(step.stopAfter)); byId('stop').click(); }
    if (step.follow) page().querySelector('#terminal a').click();
    await pause(50);
    await until(isIdle);
    await pause(50);
    all.push(seen(start));
  }
  await report({ all });
} catch (error) { await report({ error: String(error && error.stack || error) }); }
`;

const kernel = `#include <cstdio>
__global__ void square(int *x) { x[threadIdx.x] *= x[threadIdx.x]; }
`;
const steps = [
  { run: true, args: '5000' },
  { press: 'fetch' },
  { run: true, args: '7000' },
  { source: `${kernel}int main() {\n  int n = 1\n  return n;\n}\n` },
  { follow: true },
  {
    source: '#include <cstdio>\nint main() { puts("before"); fflush(stdout); for (volatile int i = 0;; i = i + 1) {} }\n',
    stopAfter: 'before',
  },
  { source: '#include <cstdio>\nint main() { for (int i = 0; i < 300000; i++) printf("line %d\\n", i); return 3; }\n' },
  {
    source: `#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
__global__ void hello(int n) { printf("thread %d of %d\\n", threadIdx.x, n); }
int main(int argc, char **argv) {
  std::string line;
  while (std::getline(std::cin, line)) std::cout << "read " << line << "\\n";
  for (int i = 1; i < argc; i++) std::cout << "argument " << argv[i] << "\\n";
  std::ofstream("made.txt") << "four";
  hello<<<1, 2>>>(2);
  std::cout << cudaGetErrorString(cudaDeviceSynchronize()) << std::endl;
  int *volatile none = nullptr;
  *none = 1;
}
`,
    args: `one 'two words' "three \\"3\\""`,
    input: 'a\nb',
  },
  { reload: true, run: true },
];

async function drive(isIsolated: boolean): Promise<Seen[]> {
  const files = await programPage();
  if (typeof files === 'string') throw new Error(files);
  const given = { steps: JSON.stringify(isIsolated ? steps : steps.slice(0, 2)) };
  const { all, error } = await driven<{ readonly all: Seen[]; readonly error?: string }>({
    files,
    driver,
    given,
    isIsolated,
    limitMs: 300_000,
  });
  assert.is(error, undefined);
  console.log(all.map(({ milliseconds }) => `${milliseconds} ms`).join(', '));
  return all;
}

need(test, ['chromium', 'sysroot', 'wasm-clang'], 'programs are compiled and run, and stopped', async () => {
  const [asked, first, again, wrong, followed, stopped, much, mixed, reloaded] = (await drive(true)) as Required<Seen[]>;
  assert.match(
    asked!.notice,
    /^The compiler, clang 22\.\S+ as WebAssembly with its libraries, is 2\d\.\d MB over the wire\..*Fetch it and run$/,
  );
  assert.is(asked!.output, '');
  assert.equal([first!.output, first!.status], ['5000 elements, 0 wrong; the last is 7498.5\n', 'exit code 0']);
  assert.equal([again!.output, again!.status], ['7000 elements, 0 wrong; the last is 10498.5\n', 'exit code 0']);
  assert.match(wrong!.output, /^vector_add\.cu:4:12: error: expected ';' at end of declaration\n\s+4 \|\s+int n = 1\n/);
  assert.equal([wrong!.marked, wrong!.status], ['4', 'The program does not compile.']);
  assert.is(followed!.chosen, '  int n = 1');
  assert.equal([stopped!.output, stopped!.status], ['before\n\nstopped\n', 'stopped']);
  assert.is(much!.status, 'exit code 3');
  assert.ok(much!.output.startsWith('line 0\nline 1\n') && much!.output.endsWith('line 299998\nline 299999\n'));
  assert.ok(much!.output.length < 1_300_000, `${much!.output.length}`);
  const [, dropped] = /… ([\d,]+) bytes of output are not shown …/.exec(much!.output)!;
  const all = Array.from({ length: 300_000 }, (_, i) => `line ${i}\n`.length).reduce((a, b) => a + b);
  const note = `\n… ${dropped} bytes of output are not shown …\n`;
  assert.is(much!.output.length - note.length + Number(dropped!.replaceAll(',', '')), all, 'what is shown and what is not are all');
  assert.match(
    mixed!.output,
    /^read a\nread b\nargument one\nargument two words\nargument three "3"\nthread 0 of 2\nthread 1 of 2\nno error\nerror\[CM5081\]: .*a null pointer/,
  );
  assert.equal([mixed!.status, mixed!.written], ['exit code 134', 'files that the program wrote:made.txt (4 bytes)']);
  assert.equal([reloaded!.notice, reloaded!.status], ['', 'exit code 134'], 'the browser has kept the compiler, and the page the program');
});

need(test, ['chromium', 'sysroot', 'wasm-clang'], 'a page without shared memory runs programs too', async () => {
  const [, first] = await drive(false);
  assert.equal([first!.output, first!.status], ['5000 elements, 0 wrong; the last is 7498.5\n', 'exit code 0']);
});

test.run();
