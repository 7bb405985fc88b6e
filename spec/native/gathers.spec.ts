/**
 * Loads of lanes at addresses of their own, as the engine writes them, become gathers, which load what WebAssembly loads: anywhere in memory, its last
 * bytes, and trap one byte beyond.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pack } from '../../src/native/pack/index.ts';
import { buildSsa } from '../../src/native/ssa/build.ts';
import { simplify } from '../../src/native/ssa/simplify.ts';
import type { SsaFunction } from '../../src/native/ssa/types.ts';
import { verifySsa } from '../../src/native/ssa/verify.ts';
import { type Code, type NameWith, newModule, readWasm } from '../../src/wasm/index.ts';
import { randomFractions } from '../support/lcg.ts';
import { interpret } from './support/interpret.ts';
import { nativeExports, outcome, runnableFeatures, wasmExports } from './support/run.ts';

const test = suite('native/gathers');

const sizes = [8, 16, 32, 64] as const;
type Size = (typeof sizes)[number];
/** Vectors of four addresses, and their place in memory; that of the results. */
const [packs, from, to] = [4, 256, 1024];
const memoryBytes = 65536;

/** Loads a vector of four lanes, or of two by the addresses of a half. `between` is done before the last load. */
function loadLanes(code: Code, size: Size, offset: number, addresses: number, half: number, between: () => void): void {
  const rest = `v128.load${size}_lane` as NameWith<'memoryLane'>;
  const count = size === 64 ? 2 : 4;
  const push = (lane: number): void => {
    code.at('local.get', addresses);
    code.lane('i32x4.extract_lane', 2 * half + lane);
  };
  for (let lane = count - 1; lane > 0; lane--) push(lane);
  if (size < 32) push(0);
  else {
    push(0);
    code.access(size === 32 ? 'v128.load32_zero' : 'v128.load64_zero', 1, offset);
  }
  if (size < 32) code.v128([0, 0, 0, 0]);
  for (let lane = size < 32 ? 0 : 1; lane < count; lane++) {
    if (lane === count - 1) between();
    code.accessLane(rest, 1, offset, size < 32 ? (lane * 32) / size : lane);
  }
}

/** A module whose `run` loads by all addresses, and then stores what it has loaded. */
function gatheringModule(size: Size, offset: number, hasStore = false): Uint8Array {
  const module = newModule();
  module.importMemory('memory', 1, 1);
  const { code } = module.fn({ params: [], results: [] }, 'run');
  const results: number[] = [];
  for (let pack = 0; pack < packs; pack++) {
    const addresses = code.local('v128');
    code.i32(from);
    code.access('v128.load', 1, 16 * pack);
    code.at('local.set', addresses);
    for (let half = 0; half < (size === 64 ? 2 : 1); half++) {
      loadLanes(code, size, offset, addresses, half, () => {
        if (!hasStore) return;
        code.i32(to);
        code.i32(7);
        code.access('i32.store', 1, 0);
      });
      results.push(code.local('v128'));
      code.at('local.set', results.at(-1)!);
    }
  }
  for (const [i, result] of results.entries()) {
    code.i32(to);
    code.at('local.get', result);
    code.access('v128.store', 1, 16 * i);
  }
  return module.finish();
}

const fractions = randomFractions(11);
/** Memory with random bytes, and 16 addresses in it. */
function memoryWith(addresses: readonly number[]): Uint8Array {
  const bytes = Uint8Array.from({ length: memoryBytes }, () => Math.floor(fractions() * 256));
  const view = new DataView(bytes.buffer);
  addresses.forEach((address, i) => void view.setUint32(from + 4 * i, address, true));
  return bytes;
}

/** Addresses of accesses that end in memory: random ones, the first and the last one. */
const addressesFor = (size: Size, offset: number): number[] => {
  const last = memoryBytes - offset - size / 8;
  return Array.from({ length: 4 * packs }, (_, i) => (i === 3 ? 0 : i === 9 ? last : Math.floor(fractions() * (last + 1))));
};

function packed(bytes: Uint8Array, hasGathers: boolean): SsaFunction {
  const fn = buildSsa(readWasm(bytes), 0) as SsaFunction;
  simplify(fn);
  pack(fn, 64, hasGathers);
  simplify(fn);
  assert.equal(verifySsa(fn), []);
  return fn;
}

const gathersOf = ({ blocks, types }: SsaFunction): string[] =>
  blocks.flatMap(({ insts }) => insts.filter(({ op }) => op.endsWith('_gather')).map(({ op, result }) => `${op} ${types[result!]}`));

for (const size of sizes) {
  test(`chains of loads of ${size} bits are gathers of 512 bits`, () => {
    const fn = packed(gatheringModule(size, 16), true);
    assert.equal(gathersOf(fn), Array(size === 64 ? 2 : 1).fill(`vector.load${size}_gather v512`));
    assert.not(fn.blocks.some(({ insts }) => insts.some(({ op }) => op.endsWith('_lane'))));
    assert.equal(gathersOf(packed(gatheringModule(size, 16), false)), []);
  });

  test(`loads of ${size} bits on both sides of a store stay`, () => {
    assert.equal(gathersOf(packed(gatheringModule(size, 16, true), true)), []);
  });

  test(`gathers of ${size} bits load in the interpreter what the loads did`, () => {
    const bytes = gatheringModule(size, 16);
    for (let round = 0; round < 3; round++) {
      const memory = memoryWith(addressesFor(size, 16));
      const [own, other] = [memory.slice(), memory.slice()];
      interpret(packed(bytes, true), [], { memory: own, globals: [] });
      interpret(packed(bytes, false), [], { memory: other, globals: [] });
      assert.equal(Bun.hash(own), Bun.hash(other));
    }
  });
}

test('loads of bytes at the start of memory, where there is no word that ends in them, stay', () => {
  assert.equal(gathersOf(packed(gatheringModule(8, 2), true)), []);
  assert.equal(gathersOf(packed(gatheringModule(16, 1), true)), []);
  assert.is(gathersOf(packed(gatheringModule(8, 3), true)).length, 1);
  assert.is(gathersOf(packed(gatheringModule(16, 2), true)).length, 1);
});

/** What `run` does to several memories, or that it traps. */
function resultsOf(how: typeof wasmExports, bytes: Uint8Array, starts: readonly Uint8Array[]): unknown[] {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  const own = new Uint8Array(memory.buffer);
  const { run } = how(bytes, memory, {});
  return starts.map((start) => {
    own.set(start);
    return typeof outcome(() => run!()) === 'string' ? 'trap' : Bun.hash(own);
  });
}

for (const [target, features] of runnableFeatures())
  test(`lanes at addresses of their own, by ${target}`, () => {
    const native: typeof wasmExports = (bytes, memory, imports) => nativeExports(bytes, memory, imports, features);
    for (const size of sizes)
      for (const offset of [3, memoryBytes - 24, memoryBytes, 2 ** 31, 2 ** 32 - 8]) {
        const bytes = gatheringModule(size, offset);
        const isOutside = offset > memoryBytes - size / 8;
        const addresses = isOutside ? [...Array(16).keys()] : addressesFor(size, offset);
        const beyond = isOutside ? 0 : memoryBytes - offset - size / 8 + 1;
        const withOne = (at: number, address: number): number[] => addresses.map((each, i) => (i === at ? address : each));
        const memories = [addresses, withOne(13, 2 ** 31 + 5), withOne(0, beyond)].map(memoryWith);
        const wanted = resultsOf(wasmExports, bytes, memories);
        assert.is(wanted[0] === 'trap', isOutside);
        assert.equal(resultsOf(native, bytes, memories), wanted, `${size} bits at ${offset}`);
      }
  });

test.run();
