/** `cumetal analyze` and `cumetal check --advise`: launches, formats, levels and suppressions. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commandLine } from '../support/command-line.ts';

const test = suite('cli/analyze');

/** Threads store 64 bytes apart; `head` is in front of the text, `above` in front of the store. */
const text = (head = '', above = ''): string => `${head}.version 8.0
.target sm_80
.address_size 64
.visible .entry wide(.param .u64 p)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 64;
  add.s64 %rd3, %rd1, %rd2;
${above}  st.global.u32 [%rd3], %r1;
  ret;
}
`;
const lines = '//! cumetal: --grid 2 --block 48 --arg u32:1024\n';

interface Analyzed {
  readonly files: readonly {
    readonly kernels: readonly { readonly block: unknown; readonly accesses: readonly { readonly request: object }[] }[];
  }[];
  readonly diagnostics: readonly { readonly code: string; readonly severity: string; readonly line: number }[];
}

async function analyzed(words: readonly string[], files: Readonly<Record<string, string>>): Promise<Analyzed> {
  const { code, out, err } = await commandLine(['analyze', ...words, '--json'], files);
  assert.is(code, 0, err);
  return JSON.parse(out) as Analyzed;
}

const requestOf = ({ files }: Analyzed): object => files[0]!.kernels[0]!.accesses[0]!.request;

test('the launch is that of the command line, of the file, of a launch file, or none', async () => {
  // Warps of 32 and of 16 threads, each with a sector of its own: the mean is 24.
  assert.equal(requestOf(await analyzed(['k.ptx'], { 'k.ptx': text(lines) })), {
    certainty: 'exact',
    sectors: 24,
    least: 3,
    efficiency: 0.125,
  });
  const given = await analyzed(['k.ptx', '--grid', '1', '--block', '64', '--arg', 'u32:1024'], { 'k.ptx': text() });
  assert.equal(requestOf(given), { certainty: 'exact', sectors: 32, least: 4, efficiency: 0.125 });
  const file = JSON.stringify({
    module: 'k.ptx',
    kernel: 'wide',
    grid: [1, 1, 1],
    block: [16, 1, 1],
    args: [{ name: 'p', buffer: 'u32', shape: [256], init: 'zeros' }],
  });
  const launched = await analyzed(['--launch', 'l.json'], { 'k.ptx': text(), 'l.json': file });
  assert.equal(requestOf(launched), { certainty: 'exact', sectors: 16, least: 2, efficiency: 0.125 });
  assert.equal(requestOf(await analyzed(['k.ptx'], { 'k.ptx': text() })), {
    certainty: 'assumed',
    sectors: 32,
    least: 4,
    efficiency: 0.125,
  });
});

test('advice is a diagnostic at its line, which levels and comments apply to', async () => {
  const files = { 'k.ptx': text(), 'allowed.ptx': text('', '  // cumetal: allow CM2301 -- measured\n') };
  const { diagnostics } = await analyzed(['k.ptx'], files);
  assert.equal(
    diagnostics.map(({ code, severity, line }) => [code, severity, line]),
    [['CM2301', 'note', 12]],
  );
  assert.equal((await analyzed(['allowed.ptx'], files)).diagnostics, []);
  assert.is((await commandLine(['analyze', 'k.ptx', '-W', 'CM2301=error'], files)).code, 1);
  assert.is((await commandLine(['analyze', 'k.ptx', '-W', 'CM2301=off'], files)).err, '');
  // A check without advice has nothing that the comment could allow.
  assert.match((await commandLine(['check', 'allowed.ptx'], files)).out, /no problems/);
});

test('`check --advise` adds the advice, for the launch of the file', async () => {
  assert.match((await commandLine(['check', 'k.ptx'], { 'k.ptx': text(lines) })).out, /no problems/);
  const { code, err } = await commandLine(['check', 'k.ptx', '--advise'], { 'k.ptx': text(lines) });
  assert.is(code, 0);
  assert.match(err, /note\[CM2301\]: this store of i32 touches 24 sectors/);
});

test('SARIF has a rule and a place for each', async () => {
  const { out } = await commandLine(['analyze', 'k.ptx', '--sarif'], { 'k.ptx': text() });
  const [run] = (
    JSON.parse(out) as { runs: { tool: { driver: { rules: { id: string }[] } }; results: { ruleId: string; level: string }[] }[] }
  ).runs;
  assert.equal(
    run!.tool.driver.rules.map(({ id }) => id),
    ['CM2301'],
  );
  assert.equal(
    run!.results.map(({ ruleId, level }) => [ruleId, level]),
    [['CM2301', 'note']],
  );
});

test('a metallib is refused', async () => {
  const built = await commandLine(['build', 'k.ptx', '-o', 'k.metallib'], { 'k.ptx': text() });
  const { code, err } = await commandLine(['analyze', 'k.metallib'], built.written as never);
  assert.is(code, 2);
  assert.match(err, /is a metallib; advice is on PTX/);
});

test.run();
