/**
 * An interpreter of functions in SSA form over a memory of bytes, which says what they are to compute. It is slow and plain: vectors are arrays of
 * bytes, and every instruction is done lane by lane.
 */
import { signatureOf } from '../../../src/native/ssa/signature.ts';
import { bytesOfType, type Edge, type Inst, isGather, type SsaFunction, type SsaType, type Value } from '../../../src/native/ssa/types.ts';
import {
  bitsOf,
  floatComparisons,
  floatOf,
  floatOps,
  integerComparisons,
  integerOps,
  numberOf,
  Trap,
  traps,
  truncOrTrap,
  truncSat,
} from './numbers.ts';
import { lanesOf, laneWidth, partOp, reduce, shiftLanes, vectorOf, widenLanes } from './vectors.ts';

export { Trap, traps } from './numbers.ts';

/** A value: a number by its bits, unsigned; a vector by its bytes, 16, 32 or 64 of them. */
export type Datum = bigint | Uint8Array;

/** What a function runs in. */
export interface World {
  readonly memory: Uint8Array;
  readonly globals: bigint[];
  /** Calls a function of the module by its number. */
  call?(index: number, args: readonly Datum[]): Datum | undefined;
  /** Instructions that may still run; an Error is thrown when there are none left. */
  fuel?: number;
}

/** Runs a function; throws a `Trap`. */
export function interpret(fn: SsaFunction, args: readonly Datum[], world: World): Datum | undefined {
  const values: Datum[] = [];
  const pass = (params: readonly Value[], data: readonly Datum[]): void => {
    for (const [i, param] of params.entries()) values[param] = data[i]!;
  };
  pass(fn.blocks[0]!.params, args);
  const follow = ({ block, args }: Edge): number => {
    pass(
      fn.blocks[block]!.params,
      args.map((arg) => values[arg]!),
    );
    return block;
  };
  for (let at = 0; ; ) {
    const { insts, end } = fn.blocks[at]!;
    world.fuel = (world.fuel ?? 1e7) - insts.length - 1;
    if (world.fuel < 0) throw new Error('the program runs for too long');
    for (const inst of insts) {
      const given = inst.args.map((arg) => {
        if (values[arg] === undefined) throw new Error(`v${arg} is not defined`);
        return values[arg]!;
      });
      const result = evaluate(inst, given, fn.types, world);
      if (inst.result !== undefined) values[inst.result] = result!;
    }
    switch (end.op) {
      case 'jump':
        at = follow(end.to);
        break;
      case 'branch':
        at = follow(values[end.cond] !== 0n ? end.then : end.else);
        break;
      case 'switch':
        at = follow(end.edges[Math.min(Number(values[end.index]), end.edges.length - 1)]!);
        break;
      case 'return':
        return end.values.length === 0 ? undefined : values[end.values[0]!]!;
      case 'trap':
        throw new Trap(traps.unreachable);
    }
  }
}

type Evaluate = (inst: Inst, args: readonly Datum[], type: SsaType, world: World) => Datum | undefined;

const big = (datum: Datum | undefined): bigint => datum as bigint;
const bytesOf = (datum: Datum | undefined): Uint8Array => datum as Uint8Array;

const special: Readonly<Record<string, Evaluate>> = {
  select: (_, [a, b, cond]) => (cond !== 0n ? a : b),
  call: ({ index }, args, _, world) => world.call!(index!, args),
  'global.get': ({ index }, _, __, { globals }) => globals[index!]!,
  'global.set'({ index }, [value], _, { globals }) {
    globals[index!] = big(value);
    return undefined;
  },
  'atomic.fence': () => undefined,
  'v128.const': ({ bytes }) => Uint8Array.from(bytes!),
  'vector.part': ({ lane }, [vector]) => bytesOf(vector).slice(16 * lane!, 16 * lane! + 16),
  'vector.join': (_, parts) => Uint8Array.from(parts.flatMap((part) => [...bytesOf(part)])),
  'vector.words': ({ words }, parts) => {
    const all = parts.flatMap((part) => lanesOf(bytesOf(part), 32));
    return vectorOf(
      words!.map((word) => all[word]!),
      32,
    );
  },
  'vector.widen': ({ kind }, [vector], type) => widenLanes(kind!, bytesOf(vector), bytesOfType(type)),
};

function evaluate(inst: Inst, args: readonly Datum[], types: readonly SsaType[], world: World): Datum | undefined {
  const { op } = inst;
  const type = inst.result === undefined ? 'i32' : types[inst.result]!;
  const own = special[op];
  if (own) return own(inst, args, type, world);
  if (inst.bits !== undefined) return inst.bits;
  if (isGather(op)) return gather(inst, bytesOf(args[0]), bytesOfType(type), world);
  if (inst.offset !== undefined) return access(inst, args, type, types, world);
  const isVector = signatureOf(op)!.params.includes('v128') || type.startsWith('v');
  return isVector ? vectorResult(inst, args, type) : numberResult(op, args);
}

const widthOf = (type: string): number => Number(type.slice(1));

function numberResult(name: string, [a, b]: readonly Datum[]): bigint {
  const [type = '', op = ''] = name.split('.');
  const { params } = signatureOf(name)!;
  const width = widthOf(type);
  const isSigned = op.endsWith('_s');
  const from = widthOf(params[0]!);
  if (/^(wrap|reinterpret)/.test(op)) return BigInt.asUintN(width, big(a));
  if (/^extend_/.test(op)) return BigInt.asUintN(width, isSigned ? BigInt.asIntN(32, big(a)) : big(a));
  if (/^(promote|demote)/.test(op)) return bitsOf(numberOf(big(a), from), width);
  if (op.startsWith('convert')) return floatOf(isSigned ? BigInt.asIntN(from, big(a)) : big(a), width);
  if (op.startsWith('trunc_sat')) return BigInt.asUintN(width, truncSat(numberOf(big(a), from), width, isSigned));
  if (op.startsWith('trunc_')) return BigInt.asUintN(width, truncOrTrap(numberOf(big(a), from), width, isSigned));
  if (type[0] === 'f') {
    const compare = floatComparisons[op];
    if (compare) return compare(numberOf(big(a), width), numberOf(big(b), width)) ? 1n : 0n;
    return floatOps[op]!([big(a), big(b ?? 0n)], width);
  }
  const compare = integerComparisons[op];
  if (compare) return compare(big(a), big(b ?? 0n), width) ? 1n : 0n;
  return BigInt.asUintN(width, integerOps[op]!(big(a), big(b ?? 0n), width));
}

function vectorResult({ op: name, lane, bytes }: Inst, args: readonly Datum[], type: SsaType): Datum {
  const op = name.slice(name.indexOf('.') + 1);
  const width = laneWidth(name);
  if (op === 'splat') return vectorOf(Array<bigint>((8 * bytesOfType(type)) / width).fill(big(args[0])), width);
  if (op.startsWith('extract_lane')) {
    const value = lanesOf(bytesOf(args[0]), width)[lane!]!;
    return op.endsWith('_s') ? BigInt.asUintN(32, BigInt.asIntN(width, value)) : value;
  }
  if (op === 'replace_lane') {
    const lanes = lanesOf(bytesOf(args[0]), width);
    lanes[lane!] = big(args[1]);
    return vectorOf(lanes, width);
  }
  if (/^(any_true|all_true|bitmask)$/.test(op)) return BigInt(reduce(name, bytesOf(args[0])) >>> 0);
  if (/^sh[lr]/.test(op)) return shiftLanes(name, bytesOf(args[0]), big(args[1]));
  const each = partOp(name, bytes);
  const result = new Uint8Array(bytesOfType(type));
  for (let at = 0; at < result.length; at += 16) result.set(each(args.map((arg) => bytesOf(arg).subarray(at, at + 16))), at);
  return result;
}

/** The bytes that an access moves. */
function accessedBytes(name: string, type: SsaType): number {
  const half = /load(8x8|16x4|32x2)/.test(name);
  const narrow = /(?:load|store)(\d+)/.exec(name);
  return half ? 8 : narrow ? Number(narrow[1]) / 8 : bytesOfType(type);
}

function access(inst: Inst, args: readonly Datum[], type: SsaType, types: readonly SsaType[], world: World): Datum | undefined {
  const { op, offset, lane } = inst;
  const isStore = op.includes('store');
  const size = accessedBytes(op, isStore ? types[inst.args[1]!]! : type);
  const at = Number(big(args[0])) + offset!;
  if (op.includes('atomic') && at % size !== 0) throw new Trap(traps.unaligned);
  if (at + size > world.memory.length) throw new Trap(traps.memory);
  const place = world.memory.subarray(at, at + size);
  if (op.includes('rmw')) return readModifyWrite(op, args, place);
  if (isStore) {
    const value = args[1]!;
    if (lane !== undefined) place.set(bytesOf(value).subarray(size * lane, size * lane + size));
    else if (typeof value === 'bigint') place.set(vectorOf([value], 64).subarray(0, size));
    else place.set(value);
    return undefined;
  }
  if (type.startsWith('v')) return loadVector(inst, bytesOf(args[1]), bytesOfType(type), place.slice());
  const value = lanesOf(place, 8 * size)[0]!;
  return op.endsWith('_s') ? BigInt.asUintN(widthOf(type), BigInt.asIntN(8 * size, value)) : value;
}

/** Loads lanes, each from its address; nothing but the result comes of it, so that the order of traps makes no difference. */
function gather({ op, lane, offset }: Inst, from: Uint8Array, bytes: number, { memory }: World): Uint8Array {
  const size = Number(/load(\d+)/.exec(op)![1]) / 8;
  const width = Math.max(4, size);
  const addresses = lanesOf(from, 32).slice(size === 8 && bytes === 16 ? 2 * lane! : 0);
  const result = new Uint8Array(bytes);
  for (let i = 0; i * width < bytes; i++) {
    const at = Number(addresses[i]) + offset!;
    if (at + size > memory.length) throw new Trap(traps.memory);
    result.set(memory.subarray(at, at + size), i * width);
  }
  return result;
}

function loadVector({ op, lane }: Inst, into: Uint8Array, bytes: number, place: Uint8Array): Uint8Array {
  if (op.endsWith('_lane')) {
    const result = into.slice();
    result.set(place, place.length * lane!);
    return result;
  }
  if (op.endsWith('_splat')) return Uint8Array.from({ length: bytes }, (_, i) => place[i % place.length]!);
  const [, from, , sign] = /load(\d+)x(\d+)_([su])/.exec(op) ?? [];
  if (from === undefined) {
    const result = new Uint8Array(bytes);
    result.set(place);
    return result;
  }
  const width = Number(from);
  return vectorOf(
    lanesOf(place, width).map((value) => (sign === 's' ? BigInt.asIntN(width, value) : value)),
    2 * width,
  );
}

function readModifyWrite(name: string, [, a, b]: readonly Datum[], place: Uint8Array): bigint {
  const width = 8 * place.length;
  const old = lanesOf(place, width)[0]!;
  const op = name.slice(name.lastIndexOf('.') + 1);
  const next = op === 'xchg' ? big(a) : op === 'cmpxchg' ? (old === big(a) ? big(b) : old) : integerOps[op]!(old, big(a), width);
  place.set(vectorOf([next], width));
  return old;
}
