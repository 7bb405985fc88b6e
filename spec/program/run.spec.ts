/** Programs from start to end, as hand-made modules: their exit codes, and what stops them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { openDevice } from '../../src/device/index.ts';
import { machineHost, runProgram, stoppedCode } from '../../src/program/index.ts';
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
  const host = machineHost({ args: ['program'], env: {}, folders: [] });
  const code = runProgram(bytes, {
    device: openDevice('cpu', new Diagnostics(), { threads: 1 })!,
    host,
    load: () => undefined,
    report: ({ list }) => void said.push(...list.map((each) => `${each.code} ${each.message}${each.help ? ` (${each.help})` : ''}`)),
    print: () => undefined,
    now: () => 0,
  });
  return { code, said };
}

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
  assert.is(follow(0n).code, stoppedCode);
  // malloc, cudaMalloc into it, and a load through what it wrote.
  const place = i64((1n << 32n) + 70_000n);
  const code = [...place, ...i64(64n), 0x10, 1, 0x1a, ...place, 0x29, 0, 0, 0x2d, 0, 0, 0x1a];
  assert.match(
    ran(program(code, [outside, ['env', 'cudaMalloc', 'll>i']])).said[0]!,
    /which is device memory, which only kernels and copies/,
  );
});

test('a trap is reported with its reason', () => {
  const { code, said } = ran(program([0x00]));
  assert.is(code, stoppedCode);
  assert.match(said[0]!, /^CM5082 the host code of the program failed: .*nreachable/);
  // A call without an end.
  assert.match(ran(program([0x10, 0])).said[0]!, /^CM5082/);
});

test('what is no program is refused', () => {
  assert.match(ran(Uint8Array.from([1, 2, 3])).said[0]!, /^CM4090/);
  assert.match(ran(moduleOf({ functions: [{ type: '>l', code: get(0) }], memory })).said[0]!, /^CM4091/);
  const bare = moduleOf({ functions: [{ type: '>', name: '_start', code: [] }], memory });
  assert.match(ran(bare).said[0]!, /^CM4092 .*it does not export malloc, free/);
  assert.is(ran(bare).code, undefined);
});

test.run();
