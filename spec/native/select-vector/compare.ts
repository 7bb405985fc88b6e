/** Functions of vector instructions, run by the rules at all widths for both targets and by WebAssembly itself, one part after the other. */
import * as assert from 'uvu/assert';
import { processorFeatures } from '../../../src/ffi/native/processor.ts';
import { nativeSystem } from '../../../src/ffi/native/system.ts';
import type { Inst, SsaType } from '../../../src/native/ssa/types.ts';
import { type Code, newModule, type ValueType } from '../../../src/wasm/index.ts';
import { place, type Straight } from './harness.ts';
import { fill, type LaneKind, newRandom, type Random } from './random.ts';

/** An operand of a function: vectors with lanes of a kind, or a scalar. */
export type Kind = LaneKind | 'scalar i32' | 'scalar i64' | 'scalar f32' | 'scalar f64' | 'address';

interface Extras {
  readonly lane?: number;
  readonly offset?: number;
  readonly bytes?: readonly number[];
}

/** A function of v128, whose wide forms do the same with each part. */
export interface Case {
  readonly name: string;
  readonly kinds: readonly Kind[];
  readonly types: readonly ValueType[];
  readonly insts: readonly Inst[];
  readonly result: number | undefined;
  /** Constants: 64 bytes each, of which a vector has as many as it has. */
  readonly constants: ReadonlyMap<number, readonly number[]>;
  /** Whether it has no wide form. */
  readonly isNarrow: boolean;
  readonly asFlags: boolean;
}

export interface Builder {
  input(kind: Kind): number;
  op(name: string, args: readonly number[], extras?: Extras): number;
  /** A constant of 16 bytes, which repeat, or of 64. */
  constant(bytes: readonly number[]): number;
  i32(value: number): number;
}

const typeOfResult = (name: string): ValueType =>
  /any_true|all_true|bitmask|i(8x16|16x8|32x4)\.extract/.test(name)
    ? 'i32'
    : /extract_lane|^[if]\d\d\.load/.test(name)
      ? (name.slice(0, 3) as ValueType)
      : 'v128';

/** A case, whose function returns the result. */
export function build(
  name: string,
  write: (b: Builder) => number | undefined,
  options: { isNarrow?: boolean; asFlags?: boolean } = {},
): Case {
  const kinds: Kind[] = [];
  const types: ValueType[] = [];
  const insts: Inst[] = [];
  const constants = new Map<number, readonly number[]>();
  const value = (type: ValueType): number => types.push(type) - 1;
  const result = write({
    input(kind) {
      assert.is(types.length, kinds.length, 'inputs come first');
      kinds.push(kind);
      return value(kind === 'address' ? 'i32' : kind.startsWith('scalar') ? (kind.slice(7) as ValueType) : 'v128');
    },
    op(op, args, extras = {}) {
      const own = op.includes('store') ? undefined : value(typeOfResult(op));
      insts.push({ op, args: [...args], result: own, ...extras });
      return own ?? -1;
    },
    constant(bytes) {
      const own = value('v128');
      constants.set(own, bytes);
      insts.push({ op: 'v128.const', args: [], result: own, bytes });
      return own;
    },
    i32(bits) {
      const own = value('i32');
      insts.push({ op: 'i32.const', args: [], result: own, bits: BigInt(bits >>> 0) });
      return own;
    },
  });
  return { name, kinds, types, insts, result, constants, isNarrow: options.isNarrow ?? false, asFlags: options.asFlags ?? false };
}

/** Bytes of an access for each part, 0 for loads of one element for all lanes. */
const partBytes = (op: string): number => (/splat|^[if]\d\d\.load/.test(op) ? 0 : /load\d+x/.test(op) ? 8 : 16);

const [dataAt, outputAt, constantsAt] = [16384, 8192, 32768];

/** Writes the body of a function (inputs, part, output, constants): the case's operations on one part. */
function writeBody(code: Code, { kinds, types, insts, result, constants }: Case): void {
  const locals = types.map((type) => code.local(type));
  const load = (base: number, type: ValueType, offset: number): void => {
    code.at('local.get', base);
    if (type === 'v128') {
      code.at('local.get', 1);
      code.op('i32.add');
    }
    code.access(`${type}.load`, 1, offset);
  };
  kinds.forEach((_, i) => {
    load(0, types[i]!, 64 * i);
    code.at('local.set', locals[i]!);
  });
  let count = 0;
  for (const { op, args, result: own, lane, offset = 0, bits, bytes } of insts) {
    if (constants.has(own ?? -1)) load(3, 'v128', 64 * count++);
    else if (op === 'i32.const') code.i32(Number(bits) | 0);
    else {
      args.forEach((arg, i) => {
        code.at('local.get', locals[arg]!);
        if (i > 0 || !/load|store/.test(op)) return;
        code.at('local.get', 1);
        code.i32(partBytes(op) / 8);
        code.op('i32.mul');
        code.i32(1);
        code.op('i32.shr_u');
        code.op('i32.add');
      });
      if (/(load|store)\d+_lane/.test(op)) code.accessLane(op as never, 1, dataAt + offset, lane!);
      else if (/load|store/.test(op)) code.access(op as never, 1, dataAt + offset);
      else if (lane !== undefined) code.lane(op as never, lane);
      else if (bytes) code.shuffle(bytes);
      else code.op(op as never);
    }
    if (own !== undefined) code.at('local.set', locals[own]!);
  }
  if (result === undefined) return;
  code.at('local.get', 2);
  code.at('local.get', locals[result]!);
  code.access(`${types[result]!}.store`, 1);
}

/** The same function of wide vectors. */
function widened({ kinds, types, insts, result, constants, asFlags }: Case, bytes: number): Straight {
  const wide = (type: ValueType): SsaType => (type === 'v128' ? (`v${8 * bytes}` as SsaType) : type);
  return {
    params: kinds.map((_, i) => wide(types[i]!)),
    types: types.map(wide),
    insts: insts.map((inst) =>
      constants.has(inst.result ?? -1)
        ? { ...inst, bytes: Array.from({ length: bytes }, (_, i) => inst.bytes![i % inst.bytes!.length]!) }
        : inst,
    ),
    result,
    asFlags,
  };
}

/** Bytes of a result, with every NaN the same one if it is quiet. */
function bitsOf(view: DataView, offset: number, bytes: number, kind: 'f32' | 'f64' | undefined): string {
  const words: string[] = [];
  const size = kind === 'f64' ? 8 : 4;
  for (let i = 0; i < bytes; i += size) {
    const bits = size === 8 ? view.getBigUint64(offset + i, true) : BigInt(view.getUint32(offset + i, true));
    const [exponent, quiet] = size === 8 ? [0x7ff0000000000000n, 1n << 51n] : [0x7f800000n, 1n << 22n];
    const isNotNumber = (bits & exponent) === exponent && (bits & (exponent ^ (size === 8 ? (1n << 63n) - 1n : 0x7fffffffn))) !== 0n;
    words.push(kind && isNotNumber && (bits & quiet) !== 0n ? 'nan' : bits.toString(16));
  }
  return words.join(' ');
}

/** The kind of floats that an operation computes, so that its NaNs may have any payload. */
const floatOf = (op: string): 'f32' | 'f64' | undefined => {
  const found = /^f(32x4|64x2)\.(?!neg|abs|splat|extract|replace|pmin|pmax|eq|ne$|lt|gt|le|ge)/.exec(op);
  return found ? (found[1] === '32x4' ? 'f32' : 'f64') : undefined;
};

/** Failures that a message shows. */
const maxShown = 12;

const memoryOf = new WebAssembly.Memory({ initial: 1, maximum: 1 });

/** Runs cases on random operands: the rules' results have the bits of WebAssembly's. */
export function compareAll(cases: readonly Case[], { rounds = 24, seed = 1 } = {}): void {
  const module = newModule();
  module.importMemory('memory', 1, 1);
  for (const [i, each] of cases.entries()) writeBody(module.fn({ params: ['i32', 'i32', 'i32', 'i32'], results: [] }, `f${i}`).code, each);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module.finish() as BufferSource), { env: { memory: memoryOf } });
  const functions = cases.map(
    (_, i) => instance.exports[`f${i}`] as (inputs: number, part: number, output: number, constants: number) => void,
  );
  const failures: string[] = [];
  for (const avx512 of processorFeatures().hasAvx512 ? [false, true] : [false])
    for (const bytes of avx512 ? [16, 32, 64] : [16, 32]) {
      const random = newRandom(seed + bytes + (avx512 ? 1000 : 0));
      const chosen = cases.flatMap((each, i) => (each.isNarrow && bytes > 16 ? [] : [{ each, run: functions[i]! }]));
      // Each function has its registers at random, so it has several codes.
      const variants = 3;
      const all = chosen.flatMap((one) => Array(variants).fill(one) as (typeof one)[]);
      const native = place(
        all.map(({ each }) => widened(each, bytes)),
        { avx512 },
        random,
      );
      all.forEach(({ each, run }, index) => {
        const title = `${each.name} of ${bytes} bytes, ${avx512 ? 'AVX-512' : 'AVX2'}`;
        const failure = compareOne(each, run, (...at) => native.call(index, ...at), bytes, Math.ceil(rounds / variants), random, title);
        if (failure !== undefined) failures.push(failure);
      });
    }
  if (failures.length > 0) assert.unreachable(`${failures.length} wrong results\n${failures.slice(0, maxShown).join('\n')}`);
}

type NativeCall = (inputs: number, outputs: number, data: number) => void;

function compareOne(
  each: Case,
  run: (...at: number[]) => void,
  call: NativeCall,
  bytes: number,
  rounds: number,
  random: Random,
  title: string,
): string | undefined {
  const view = new DataView(memoryOf.buffer);
  const base = nativeSystem()!.ffi.ptr(new Uint8Array(memoryOf.buffer) as never) as unknown as number;
  const parts = bytes / 16;
  [...each.constants.values()].forEach((constant, k) => {
    for (let i = 0; i < 64; i++) view.setUint8(constantsAt + 64 * k + i, constant[i % constant.length]!);
  });
  for (let round = 0; round < rounds; round++) {
    each.kinds.forEach((kind, i) => {
      if (kind === 'address') view.setUint32(64 * i, random.below(256), true);
      else fill(view, 64 * i, 64, kind.replace('scalar ', '') as LaneKind, random);
    });
    const usesData = each.insts.some(({ op }) => /load|store/.test(op));
    if (usesData) for (let i = 0; i < 512; i += 4) view.setUint32(dataAt + i, random.bits(), true);
    const before = usesData ? new Uint8Array(memoryOf.buffer.slice(dataAt, dataAt + 512)) : undefined;
    const op = each.insts.at(-1)!.op;
    const type = each.result === undefined ? undefined : each.types[each.result]!;
    const width = type === undefined ? 0 : type === 'v128' ? bytes : type.endsWith('32') ? 4 : 8;
    const expected: string[] = [];
    for (let part = 0; part < parts; part++) {
      run(0, 16 * part, outputAt, constantsAt);
      expected.push(
        type === 'v128'
          ? bitsOf(view, outputAt, 16, floatOf(op))
          : type === 'i32'
            ? String(view.getUint32(outputAt, true))
            : bitsOf(view, outputAt, width, undefined),
      );
    }
    const whole = type === 'i32' && parts > 1 ? joined(op, expected.map(Number)) : expected.join(' ').trim();
    // As flags, a number is that it is not 0.
    const wanted = each.asFlags && whole !== '0' ? '1' : whole;
    const after = usesData ? memoryOf.buffer.slice(dataAt, dataAt + 512) : undefined;
    if (before) new Uint8Array(memoryOf.buffer).set(before, dataAt);
    call(base, base + outputAt, base + dataAt);
    const found =
      type === 'i32' ? String(view.getUint32(outputAt, true)) : bitsOf(view, outputAt, width, type === 'v128' ? floatOf(op) : undefined);
    if (found !== wanted) return `${title}: ${inputsOf(view, each, bytes)}\n  found    ${found}\n  expected ${wanted}`;
    if (after) assert.equal(new Uint8Array(memoryOf.buffer.slice(dataAt, dataAt + 512)), new Uint8Array(after), title);
  }
  return undefined;
}

/** The scalar of a wide vector from those of its parts. */
function joined(op: string, parts: readonly number[]): string {
  if (op.includes('any_true')) return parts.some((each) => each) ? '1' : '0';
  if (op.includes('all_true')) return parts.every((each) => each) ? '1' : '0';
  const lanes = Number(/x(\d+)/.exec(op)![1]);
  return String(parts.reduce((sum, each, part) => sum | (each << (lanes * part)), 0) >>> 0);
}

const inputsOf = (view: DataView, { kinds }: Case, bytes: number): string =>
  kinds
    .map(
      (kind, i) => `\n  ${kind.padEnd(8)} ${bitsOf(view, 64 * i, kind.startsWith('scalar') || kind === 'address' ? 8 : bytes, undefined)}`,
    )
    .join('');
