/** Accesses of memory as machine code: at the ends of memory, through all widths, aligned or not, each does what it does in WebAssembly. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { signatureOf } from '../../../src/native/ssa/signature.ts';
import { type Code, hasImmediate, instructions, type NumberType, newModule } from '../../../src/wasm/index.ts';
import { type Exports, nativeExports, outcome, runnableFeatures, wasmExports } from '../support/run.ts';

const test = suite('native/select/memory');
const targets = runnableFeatures();
const pageBytes = 65536;
const pages = 2;

const accesses = [...instructions.keys()].filter((name) => hasImmediate(name, 'memory') && !name.startsWith('v128'));
/** Offsets behind the address, some of which no operand of an instruction can have. */
const offsets = [0, 1, 2, 4, 1024, pageBytes, 2 ** 31 - 8, 2 ** 31, 2 ** 32 - 16, 2 ** 32 - 1];
const addresses = [
  0,
  1,
  2,
  3,
  4,
  7,
  8,
  16,
  pageBytes - 1,
  pageBytes,
  ...[-1, -2, -4, -8, -16, -17].map((back) => pages * pageBytes + back),
  pages * pageBytes,
  2 ** 31,
  -1,
  -2,
  -8,
  -pageBytes,
  -pageBytes + 8,
  -4096,
];

const bitsOf: Readonly<Record<NumberType, readonly (number | bigint)[]>> = {
  i32: [0x12345678, -2, 0x8081_8283 | 0],
  i64: [0x1234_5678_9abc_def0n, -2n, 0x80n],
  f32: [1.5],
  f64: [-3.25e100],
};

/** A module whose function for each offset accesses memory at an address in `address`, or the same that is a constant there. */
function moduleOf(name: string, isShared: boolean, constants: readonly number[]): Uint8Array {
  const { params, result } = signatureOf(name)!;
  const module = newModule();
  module.importMemory('memory', pages, 4, isShared);
  const address = module.global('i32', 'address');
  const values = params.slice(1).map((type, i) => module.global(type as NumberType, `value${i}`));
  const target = result ? module.global(result as NumberType, 'result') : undefined;
  const write = (exportName: string, offset: number, writeAddress: (code: Code) => void): void => {
    const { code } = module.fn({ params: [], results: [] }, exportName);
    writeAddress(code);
    for (const value of values) code.at('global.get', value);
    code.access(name as 'i32.load', 1 << alignOf(name), offset);
    if (target !== undefined) code.at('global.set', target);
  };
  for (const offset of offsets) {
    write(`run ${offset}`, offset, (code) => code.at('global.get', address));
    // A fifth of all constants, others for each instruction, so that the spec is quick.
    for (const [k, constant] of constants.entries())
      if ((k + name.length + offsets.indexOf(offset)) % 5 === 0)
        write(`run ${offset} at ${constant}`, offset, (code) => code.i32(constant));
  }
  return module.finish();
}

/** Atomic accesses say their size as their alignment. */
const alignOf = (name: string): number => {
  if (!name.includes('atomic')) return 0;
  const bits = Number(/(?:load|store)(\d+)/.exec(name)?.[1] ?? (name.startsWith('i32') ? 32 : 64));
  return Math.log2(bits / 8);
};

const fill = (memory: WebAssembly.Memory): Uint8Array => new Uint8Array(memory.buffer).map((_, i) => i * 37 + (i >> 8));

function check(name: string, both: readonly { readonly exports: Exports; readonly memory: WebAssembly.Memory }[]): void {
  const { params, result } = signatureOf(name)!;
  const [first] = both as [{ exports: Exports; memory: WebAssembly.Memory }];
  const initial = fill(first.memory);
  for (const { memory } of both) new Uint8Array(memory.buffer).set(initial);
  const lists = params.slice(1).map((type) => bitsOf[type as NumberType]);
  const kinds = Object.keys(first.exports).filter((each) => each.startsWith('run'));
  for (const address of addresses)
    for (const run of kinds) {
      const at = (Number(/at (.*)/.exec(run)?.[1] ?? address) >>> 0) + Number(run.split(' ')[1]);
      const seen = both.map(({ exports, memory }) => {
        exports.address!.value = address;
        for (const [i, list] of lists.entries()) exports[`value${i}`]!.value = list[Math.abs(address) % list.length]!;
        const text = outcome(() => {
          exports[run]!();
          return result && exports.result!.value;
        });
        const bytes = at < pages * pageBytes ? new Uint8Array(memory.buffer).slice(Math.max(0, at - 8), at + 16) : undefined;
        // An atomic access that is neither aligned nor in bounds may trap for either reason: engines differ.
        const isTwiceWrong = name.includes('atomic') && at % 2 ** alignOf(name) !== 0 && at + 2 ** alignOf(name) > pages * pageBytes;
        return isTwiceWrong ? /Unaligned|Out of bounds/.test(String(text)) : `${text} ${bytes?.join(' ')}`;
      });
      assert.is(seen[0], seen[1], `${name} ${run}, address ${address}`);
      // What was stored is taken back, so that the next access sees the same in both.
      if (at < pages * pageBytes) for (const { memory } of both) new Uint8Array(memory.buffer).set(initial.subarray(at, at + 8), at);
    }
}

const constants = [0, 8, 12, pageBytes * pages - 8, pageBytes * pages - 4, pageBytes * pages, -8];

for (const [target, features] of targets)
  for (const isShared of [false, true])
    test(`${isShared ? 'atomic accesses of shared memory' : `all of ${accesses.length} accesses`}, by ${target}`, () => {
      assert.ok(accesses.length > 40);
      for (const name of accesses.filter((each) => !isShared || each.includes('atomic'))) {
        const bytes = moduleOf(name, isShared, constants);
        const memories = [0, 1].map(() => new WebAssembly.Memory({ initial: pages, maximum: 4, shared: isShared }));
        const native = nativeExports(bytes, memories[0]!, {}, features);
        const wasm = wasmExports(bytes, memories[1]!, {});
        check(name, [
          { exports: native, memory: memories[0]! },
          { exports: wasm, memory: memories[1]! },
        ]);
      }
    });

if (targets.length === 0) test.skip('accesses of memory: this machine runs no native code', () => {});

test.run();
