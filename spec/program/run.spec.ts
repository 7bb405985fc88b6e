/** Programs from start to end, as hand-made modules: their exit codes, and what stops them. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { openDevice } from '../../src/device/index.ts';
import { machineHost, type RunOptions, runProgram, stoppedCode } from '../../src/program/index.ts';
import { get, i64, moduleOf, text, uleb } from '../support/wide-module.ts';

const test = suite('program/run');

const memory = [1, 0x04, ...uleb(65_536 + 2)];
const parts = [
  { type: 'l>l', name: 'malloc', code: i64((1n << 32n) + 70_000n) },
  { type: 'l>', name: 'free', code: [] },
];

interface Ending {
  readonly code: number | undefined;
  readonly said: string[];
}

function ran(bytes: Uint8Array): Ending {
  const said: string[] = [];
  return { code: runProgram(bytes, options(said)), said };
}

const options = (said: string[]): RunOptions => ({
  device: openDevice('cpu', new Diagnostics(), { threads: 1 })!,
  host: machineHost({ args: ['program'], env: {}, folders: [] }),
  load: () => undefined,
  report: ({ list }) => void said.push(...list.map((each) => `${each.code} ${each.message}${each.help ? ` (${each.help})` : ''}`)),
  print: () => undefined,
  now: () => 0,
});

/** A program whose start has this code, and imports by `module.name` and type. */
function program(code: readonly number[], imports: readonly (readonly [module: string, name: string, type: string])[] = []): Uint8Array {
  const encoded = imports.flatMap(([module, name], i) => [...text(module), ...text(name), 0, i]);
  return moduleOf(
    { functions: [{ type: '>', name: '_start', code }, ...parts], memory, imports: [...uleb(imports.length), ...encoded] },
    imports.map(([, , type]) => type),
  );
}

test('a program that returns has ended well, and one that exits says how', () => {
  assert.equal(ran(program([])), { code: 0, said: [] });
  const exit = program([...i64(7n), 0x10, 0, 0x00], [['wasi_snapshot_preview1', 'proc_exit', 'l>']]);
  assert.equal(ran(exit), { code: 7, said: [] });
});

test('an exit is not seen by handlers of exceptions', () => {
  // try: exit; unreachable; catch_all: store at null, which would be reported
  const code = [0x06, 0x40, ...i64(3n), 0x10, 0, 0x00, 0x19, ...i64(0n), ...i64(0n), 0x37, 0, 0, 0x0b];
  assert.equal(ran(program(code, [['wasi_snapshot_preview1', 'proc_exit', 'l>']])), { code: 3, said: [] });
});

test('a function that is not implemented is named where it is called, and not before', () => {
  const imports = [['env', 'cudaMalloq', 'll>i']] as const;
  assert.equal(ran(program([], imports)), { code: 0, said: [] });
  const { code, said } = ran(program([...i64(0n), ...i64(8n), 0x10, 0, 0x1a], imports));
  assert.is(code, stoppedCode);
  assert.equal(said, ['CM5080 the program calls `cudaMalloq`, which is not implemented (`cudaMalloc` is there)']);
});

test('a device pointer and null stop host code that follows them', () => {
  const outside = ['cumetal', 'outside', 'l>i'] as const;
  const follow = (address: bigint): Ending => ran(program([...i64(address), 0x2d, 0, 0, 0x1a], [outside]));
  assert.match(follow(0n).said[0]!, /^CM5081 .* accessed 0x0, which is a null pointer/);
  assert.match(follow(-1n).said[0]!, /accessed 0xffffffffffffffff, which is no memory/);
  // The memory begins at 2^32; a stack grows downwards.
  assert.match(follow((1n << 32n) - 80n).said[0]!, /accessed 0xffffffb0, which is below the stack, which is used up/);
  assert.match(follow((1n << 31n) + 80n).said[0]!, /which is no memory/);
  // A program that has grown to 1 GiB and follows null has probably run out of memory.
  const grown = ran(program([...i64(16_384n), 0x40, 0, 0x1a, ...i64(0n), 0x2d, 0, 0, 0x1a], [outside]));
  assert.match(grown.said[0]!, /this program has 1\.0 of at most 4 GiB of host memory/);
  assert.is(follow(0n).code, stoppedCode);
  // malloc, cudaMalloc into it, and a load through what it wrote.
  const place = i64((1n << 32n) + 70_000n);
  const code = [...place, ...i64(64n), 0x10, 1, 0x1a, ...place, 0x29, 0, 0, 0x2d, 0, 0, 0x1a];
  assert.match(
    ran(program(code, [outside, ['env', 'cudaMalloc', 'll>i']])).said[0]!,
    /which is device memory, which only kernels and copies/,
  );
});

/** Appends a custom section that names functions by index. Source: WebAssembly core specification, appendix "Name Section". */
function withNames(bytes: Uint8Array, names: readonly string[]): Uint8Array {
  const map = [...uleb(names.length), ...names.flatMap((name, i) => [...uleb(i), ...text(name)])];
  const body = [...text('name'), 1, ...uleb(map.length), ...map];
  return Uint8Array.from([...bytes, 0, ...uleb(body.length), ...body]);
}

test('what stops a program names the functions that it is in, without those of the start', () => {
  const names = ['_start', 'malloc', 'free', 'main', 'divide(int, int)'];
  const of = (code: readonly number[]): Uint8Array => {
    const start = { type: '>', name: '_start', code: [0x10, 3] };
    const functions = [start, ...parts, { type: '>', name: 'a', code: [0x10, 4] }, { type: '>', name: 'b', code }];
    return withNames(moduleOf({ functions, memory }), names);
  };
  const notes = (bytes: Uint8Array): readonly string[] => {
    const found: string[] = [];
    const report: RunOptions['report'] = ({ list }) => void found.push(...list.flatMap((each) => each.notes));
    runProgram(bytes, { ...options([]), report });
    return found;
  };
  assert.equal(notes(of([0x41, 1, 0x41, 0, 0x6d, 0x1a])), ['in `divide(int, int)`, called from `main`']);
  assert.match(notes(of([0x10, 4]))[0]!, /^in `divide\(int, int\)`, called from `divide\(int, int\)`, .* and \d+ more$/);
  assert.equal(notes(program([0x00])), []);
});

test('a trap is reported with its reason', () => {
  const { code, said } = ran(program([0x00]));
  assert.is(code, stoppedCode);
  assert.match(said[0]!, /^CM5082 the host code of the program failed: it reached code without defined behavior/);
  // A call without an end.
  assert.match(ran(program([0x10, 0])).said[0]!, /^CM5082 .*: it has used up its stack/);
});

test('an exception that nothing caught is given to C++, whose message and exit code count', () => {
  // throw 42; `__cxa_begin_catch` keeps the pointer, and `terminate` exits with it.
  const wasi = text('wasi_snapshot_preview1');
  const imports = [3, ...text('env'), ...text('__cpp_exception'), 4, 0, 0, ...wasi, ...text('proc_exit'), 0, 0];
  imports.push(...wasi, ...text('sched_yield'), 0, 1);
  const start = { type: '>', name: '_start', code: [...i64(42n), 0x08, 0] };
  const take = { type: 'l>l', name: '__cxa_begin_catch', code: [...i64(64n + (1n << 32n)), ...get(0), 0x37, 3, 0, ...get(0)] };
  const end = { type: '>', name: '_ZSt9terminatev', code: [...i64(64n + (1n << 32n)), 0x29, 3, 0, 0x10, 0, 0x00] };
  const functions = [start, ...parts, take, end];
  assert.equal(ran(moduleOf({ functions, memory, imports }, ['l>', '>i'])), { code: 42, said: [] });
  // A program of C has neither function.
  const bare = ran(moduleOf({ functions: [start, ...parts], memory, imports }, ['l>', '>i']));
  assert.is(bare.code, stoppedCode);
  assert.match(bare.said[0]!, /^CM5082 .* an exception that nothing caught/);
});

test('a program that prints a gigabyte is passed on piece by piece', () => {
  // A list of one buffer of 64 KiB at 16; 16384 times: fd_write(1, list, 1, count).
  const at = (index: bigint): bigint => (1n << 32n) + index;
  const put = (index: bigint, value: bigint): number[] => [...i64(at(index)), ...i64(value), 0x37, 3, 0];
  const write = [...i64(1n), ...i64(at(16n)), ...i64(1n), ...i64(at(0n)), 0x10, 0, 0x1a];
  const count = [...put(8n, 0n), 0x03, 0x40, ...write];
  const next = [...i64(at(8n)), ...i64(at(8n)), 0x29, 3, 0, ...i64(1n), 0x7c, 0x37, 3, 0];
  const again = [...i64(at(8n)), 0x29, 3, 0, ...i64(16_384n), 0x54, 0x0d, 0, 0x0b];
  const bytes = program(
    [...put(16n, at(1024n)), ...put(24n, 65_536n), ...count, ...next, ...again],
    [['wasi_snapshot_preview1', 'fd_write', 'llll>i']],
  );
  let [printed, most] = [0, 0];
  const before = process.memoryUsage().rss;
  const code = runProgram(bytes, {
    ...options([]),
    host: {
      ...machineHost({ args: ['program'], env: {}, folders: [] }),
      writeOutput: (_stream, part) => {
        printed += part.length;
        most = Math.max(most, part.length);
      },
    },
  });
  assert.equal([code, printed, most], [0, 2 ** 30, 65_536]);
  assert.ok(process.memoryUsage().rss - before < 2 ** 28);
});

test('a signal ends a program that never returns, at once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
  try {
    const path = join(folder, 'endless.wasm');
    // Prints a byte, then loops.
    const at = (index: bigint): bigint => (1n << 32n) + index;
    const put = (index: bigint, value: bigint): number[] => [...i64(at(index)), ...i64(value), 0x37, 3, 0];
    const write = [...i64(1n), ...i64(at(16n)), ...i64(1n), ...i64(at(0n)), 0x10, 0, 0x1a];
    const imports = [['wasi_snapshot_preview1', 'fd_write', 'llll>i']] as const;
    writeFileSync(path, program([...put(16n, at(1024n)), ...put(24n, 1n), ...write, 0x03, 0x40, 0x0c, 0, 0x0b], imports));
    const child = spawn(process.execPath, [join(import.meta.dirname, '../../src/cli/start.ts'), 'run', path]);
    const ended = new Promise((done) => child.on('exit', (code, signal) => done(signal ?? code)));
    await new Promise((started) => child.stdout.once('data', started));
    child.kill('SIGINT');
    assert.ok(['SIGINT', 130].includes((await ended) as string | number));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('what is no program is refused', () => {
  assert.match(ran(Uint8Array.from([1, 2, 3])).said[0]!, /^CM4090/);
  assert.match(ran(moduleOf({ functions: [{ type: '>l', code: get(0) }], memory })).said[0]!, /^CM4091/);
  const bare = moduleOf({ functions: [{ type: '>', name: '_start', code: [] }], memory });
  assert.match(ran(bare).said[0]!, /^CM4092 .*it does not export malloc, free/);
  assert.is(ran(bare).code, undefined);
});

test.run();
