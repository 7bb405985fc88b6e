/** Every instruction of the tables: its types by WebAssembly's own validation, and what the interpreter makes of it by WebAssembly's own result. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { buildSsa } from '../../../src/native/ssa/build.ts';
import { signatureOf } from '../../../src/native/ssa/signature.ts';
import type { SsaFunction } from '../../../src/native/ssa/types.ts';
import { verifySsa } from '../../../src/native/ssa/verify.ts';
import { type Code, instructions, newModule, readWasm } from '../../../src/wasm/index.ts';
import { randomFractions } from '../../support/lcg.ts';
import { interpret, Trap } from '../support/interpret.ts';
import { lanesOf } from '../support/vectors.ts';

const test = suite('native/ssa/instructions');

const places = { a: 0, b: 16, c: 32, address: 48, result: 96, memory: 112 } as const;
const loads = { i32: 'i32.load', i64: 'i64.load', f32: 'f32.load', f64: 'f64.load', v128: 'v128.load' } as const;
const stores = { i32: 'i32.store', i64: 'i64.store', f32: 'f32.store', f64: 'f64.store', v128: 'v128.store' } as const;

/** Writes one instruction with immediates. */
function write(code: Code, name: string, lane: number): void {
  const { immediate } = instructions.get(name)!;
  const align = Number(/(?:load|store)(\d+)/.exec(name)?.[1] ?? (name.startsWith('i64') ? 64 : 32)) / 8;
  if (immediate === 'memory') code.access(name as never, name.includes('atomic') ? align : 1, 8);
  else if (immediate === 'memoryLane') code.accessLane(name as never, 1, 8, lane);
  else if (immediate === 'lane') code.lane(name as never, lane);
  else code.op(name as never);
}

/** A module with one instruction, whose operands and result are in memory; addresses are in the word at `places.address`. */
function moduleOf(name: string, lane: number): Uint8Array {
  const { params, result } = signatureOf(name)!;
  const module = newModule();
  module.importMemory('memory', 1, 1);
  const { code } = module.fn({ params: [], results: [] }, 'run');
  const isAccess = instructions.get(name)!.immediate.startsWith('memory');
  if (result) code.i32(0);
  params.forEach((type, i) => {
    code.i32(0);
    code.access(loads[type], 1, isAccess && i === 0 ? places.address : [places.a, places.b, places.c][i]!);
  });
  write(code, name, lane);
  if (result) code.access(stores[result], 1, places.result);
  return module.finish();
}

const lanesIn = (name: string): number => ({ i8: 16, i16: 8, i32: 4, i64: 2, f32: 4, f64: 2 })[/^[if]\d+/.exec(name)?.[0] ?? ''] ?? 1;
const lanesOfAccess = (name: string): number => 128 / Number(/(\d+)_lane/.exec(name)?.[1] ?? 128);

const interesting: Readonly<Record<8 | 16 | 32 | 64, readonly bigint[]>> = {
  8: [0n, 1n, 0x7fn, 0x80n, 0xffn],
  16: [0n, 1n, 0x7fffn, 0x8000n, 0xffffn],
  32: [
    0n,
    1n,
    31n,
    33n,
    0x7fffffffn,
    0x80000000n,
    0xffffffffn,
    0x3f000000n,
    0xc0200000n,
    0x7f800000n,
    0x4f000000n,
    0xcf000000n,
    0x7fc00001n,
    0x00000001n,
    0x80000000n,
    0x3fc00000n,
    0x4b000001n,
  ],
  64: [
    0n,
    1n,
    63n,
    0x7fffffffffffffffn,
    0x8000000000000000n,
    0xffffffffffffffffn,
    0x3fe0000000000000n,
    0xc004000000000000n,
    0x43e0000000000000n,
    0x41e0000000200000n,
    0xc1e0000000000000n,
    0x7ff0000000000000n,
    0x7ff8000000000001n,
    0x0000000000000001n,
    0x3690000000000001n,
    0x47efffffefffffffn,
  ],
};

/** Fills memory with values that instructions treat specially, and others. */
function fill(memory: Uint8Array, random: () => number): void {
  for (let at = 0; at < 176; at += 16) {
    const width = ([8, 16, 32, 64] as const)[Math.floor(random() * 4)]!;
    const list = interesting[width];
    for (let lane = 0; lane < 128 / width; lane++) {
      let value = list[Math.floor(random() * list.length)]!;
      if (random() < 0.5) value = BigInt.asUintN(64, BigInt(Math.floor(random() * 2 ** 32)) * 0x1_0000_0001n);
      for (let i = 0; i < width / 8; i++, value >>= 8n) memory[at + (lane * width) / 8 + i] = Number(value & 0xffn);
    }
  }
  memory.set([places.memory + 8 * Math.floor(random() * 3), 0, 0, 0], places.address);
}

/** The width of the floats that an instruction makes; 0 for what is no float, so that its bits count. */
function floatWidth(name: string): number {
  const [type = '', op = ''] = name.split('.');
  const bitwise = /^(load|store|abs|neg|copysign|reinterpret|splat|replace|extract|pmin|pmax|(eq|ne|lt|gt|le|ge)$)/;
  return type[0] !== 'f' || bitwise.test(op) ? 0 : Number(type.slice(1, 3));
}

const isNaNOf = (bits: bigint, width: number): boolean =>
  width === 32 ? (bits & 0x7fffffffn) > 0x7f800000n : (bits & 0x7fffffffffffffffn) > 0x7ff0000000000000n;

/** Lanes with one number for all NaNs. */
const withoutPayloads = (bytes: Uint8Array, width: number): bigint[] =>
  lanesOf(bytes, width || 8).map((lane) => (width > 0 && isNaNOf(lane, width) ? -1n : lane));

/** The trap of a run: a word, or nothing. */
function trapOf(run: () => void): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof Trap) return ['', 'unreachable', 'out of bounds', 'zero', 'overflow', 'conversion', 'unaligned'][error.code];
    const { message } = error as Error;
    if (/division by zero/i.test(message)) return 'zero';
    if (/out.of.bounds trunc/i.test(message)) return 'trunc';
    if (/overflow/i.test(message)) return 'overflow';
    return message;
  }
}

const isSameTrap = (a: string | undefined, b: string | undefined): boolean =>
  a === b || (b === 'trunc' && (a === 'overflow' || a === 'conversion')) || (b === 'overflow' && a === 'overflow');

const names = [...instructions.keys()].filter((name) => signatureOf(name) !== undefined);

test('every instruction but structural ones has types', () => {
  assert.ok(names.length > 350, `${names.length} names`);
  assert.equal(
    [...instructions.keys()].filter((name) => signatureOf(name) === undefined),
    [
      'unreachable',
      'nop',
      'return',
      'drop',
      'select',
      'br',
      'br_if',
      'call',
      'local.get',
      'local.set',
      'local.tee',
      'global.get',
      'global.set',
    ],
  );
});

/** Bun may not know these; the interpreter's answer is exact arithmetic. */
const isRelaxed = (name: string): boolean => name.includes('relaxed');

test('the types of instructions are those of validation', () => {
  const wrong = names.filter((name) => !isRelaxed(name) && !WebAssembly.validate(moduleOf(name, 0) as BufferSource));
  assert.equal(wrong, []);
});

test('the interpreter computes what WebAssembly computes', () => {
  const random = randomFractions(20);
  const wrong: string[] = [];
  for (const name of names.filter((each) => !isRelaxed(each))) {
    const lanes = instructions.get(name)!.immediate === 'memoryLane' ? lanesOfAccess(name) : lanesIn(name);
    const lane = Math.floor(random() * lanes);
    const bytes = moduleOf(name, lane);
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes as BufferSource), { env: { memory } });
    const module = readWasm(bytes);
    const fn = buildSsa(module, 0) as SsaFunction;
    assert.equal(verifySsa(fn, module), [], name);
    for (let run = 0; run < 12; run++) {
      const theirs = new Uint8Array(memory.buffer);
      fill(theirs, random);
      const ours = theirs.slice();
      const before = theirs.slice(0, 64);
      const expected = trapOf(exports.run as () => void);
      const found = trapOf(() => void interpret(fn, [], { memory: ours, globals: [] }));
      const width = floatWidth(name);
      const isSame =
        isSameTrap(found, expected) &&
        withoutPayloads(ours.slice(0, 176), width).join() === withoutPayloads(theirs.slice(0, 176), width).join();
      if (!isSame) {
        wrong.push(
          `${name} [${lane}] of ${Buffer.from(before).toString('hex')}: ${found ?? Buffer.from(ours.slice(96, 112)).toString('hex')} instead of ${expected ?? Buffer.from(theirs.slice(96, 112)).toString('hex')}`,
        );
        break;
      }
    }
  }
  assert.equal(wrong, []);
});

test.run();
