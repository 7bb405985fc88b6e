/** What each op of the IR is in WebAssembly: a total table, with one entry per op. */
import { bug } from '../../../base/bug.ts';
import {
  bitsOf,
  bytesOf,
  elementOf,
  type FcmpPredicate,
  type InstOf,
  isVector,
  type Kernel,
  lanesOf,
  type Op,
  type Rules,
  type Type,
  type Value,
  type Variable,
} from '../../../ir/index.ts';
import type { Code, ValueType } from '../../../wasm/index.ts';
import type { HelperName } from './helpers.ts';
import type { Host } from './host.ts';
import { heldAs, type Values } from './values.ts';

export interface Emitter {
  readonly kernel: Kernel;
  readonly code: Code;
  readonly host: Host;
  readonly values: Values;
  helper(name: HelperName): number;
  /** Puts a value on the stack that is made anew at every use. */
  free(value: Value): void;
  /** Puts the address on the stack at which the window of a space starts for this thread. */
  window(space: Variable['space']): void;
}

type Rule = (inst: never, value: Value) => void;

/** Writes the instruction that defines a value; the result is left on the stack. */
export function writeInstruction(e: Emitter, value: Value): void {
  const inst = e.kernel.insts[value]!;
  const rule = rulesOf(e)[inst.op] as Rule;
  e.values.define(value, () => rule(inst as never, value));
}

const known = new WeakMap<Emitter, Rules<void>>();

function rulesOf(e: Emitter): Rules<void> {
  const found = known.get(e);
  if (found) return found;
  const made = makeRules(e);
  known.set(e, made);
  return made;
}

const isNarrow = (type: Type): boolean => heldAs(type) === 'i32' && bitsOf(type) < 32;
const isShort = (type: Type): type is 'f16' | 'bf16' => type === 'f16' || type === 'bf16';
/** The type in which a float is computed. */
const computedAs = (type: Type): 'f32' | 'f64' => (type === 'f64' ? 'f64' : 'f32');
const suffix = (type: ValueType): '32' | '64' => (type.endsWith('64') ? '64' : '32');

function makeRules(e: Emitter): Rules<void> {
  const free = (_: unknown, value: Value): void => e.free(value);
  const int =
    (name: string) =>
    (inst: { type: Type; a: Value; b: Value }): void => {
      const held = heldAs(inst.type);
      e.values.push(inst.a);
      e.values.push(inst.b);
      e.code.op(`${held}.${name}`);
      mask(e, inst.type);
    };
  /** A function of two operands that are extended by their sign, or not. */
  const called =
    (name: 'sdiv' | 'udiv' | 'srem' | 'urem' | 'smin' | 'smax' | 'umin' | 'umax') =>
    (inst: { type: Type; a: Value; b: Value }): void => {
      const push = name.startsWith('s') ? pushSigned : pushPlain;
      push(e, inst.a);
      push(e, inst.b);
      call(e, `${name}${suffix(heldAs(inst.type))}`);
      mask(e, inst.type);
    };
  const float2 =
    (name: string) =>
    (inst: { type: Type; a: Value; b: Value }): void => {
      pushFloat(e, inst.a);
      pushFloat(e, inst.b);
      e.code.op(`${computedAs(inst.type)}.${name}`);
      narrow(e, inst.type);
    };
  const float1 =
    (name: string) =>
    (inst: { type: Type; a: Value }): void => {
      pushFloat(e, inst.a);
      e.code.op(`${computedAs(inst.type)}.${name}`);
      narrow(e, inst.type);
    };
  const chosen =
    (name: 'fmin' | 'fmax') =>
    (inst: { type: Type; a: Value; b: Value }): void => {
      pushFloat(e, inst.a);
      pushFloat(e, inst.b);
      call(e, `${name}${suffix(computedAs(inst.type))}`);
      narrow(e, inst.type);
    };
  return {
    const: free,
    param: free,
    variable: free,
    sreg: free,
    arg: () => bug('a block parameter in a body'),
    add: int('add'),
    sub: int('sub'),
    mul: int('mul'),
    smulhi: (inst) => highProduct(e, inst, true),
    umulhi: (inst) => highProduct(e, inst, false),
    sdiv: called('sdiv'),
    udiv: called('udiv'),
    srem: called('srem'),
    urem: called('urem'),
    and: int('and'),
    or: int('or'),
    xor: int('xor'),
    shl: (inst) => shift(e, inst, 'shl'),
    lshr: (inst) => shift(e, inst, 'shr_u'),
    ashr: (inst) => shiftSigned(e, inst),
    smin: called('smin'),
    smax: called('smax'),
    umin: called('umin'),
    umax: called('umax'),
    clz: (inst) => leadingZeros(e, inst),
    icmp: (inst) => compareInt(e, inst),
    fadd: float2('add'),
    fsub: float2('sub'),
    fmul: float2('mul'),
    fdiv: float2('div'),
    fma: (inst) => fma(e, inst),
    fsqrt: float1('sqrt'),
    fneg: (inst) => signBit(e, inst, 'neg'),
    fabs: (inst) => signBit(e, inst, 'abs'),
    fmin: chosen('fmin'),
    fmax: chosen('fmax'),
    frint: float1('nearest'),
    ftrunc: float1('trunc'),
    ffloor: float1('floor'),
    fceil: float1('ceil'),
    fcmp: (inst) => compareFloat(e, inst),
    trunc: (inst) => truncate(e, inst),
    zext: (inst) => {
      e.values.push(inst.a);
      if (heldAs(inst.type) === 'i64' && heldAs(typeOf(e, inst.a)) === 'i32') e.code.op('i64.extend_i32_u');
    },
    sext: (inst) => {
      pushSigned(e, inst.a);
      if (heldAs(inst.type) === 'i64' && heldAs(typeOf(e, inst.a)) === 'i32') e.code.op('i64.extend_i32_s');
      mask(e, inst.type);
    },
    bitcast: (inst) => {
      e.values.push(inst.a);
      const [from, to] = [heldAs(typeOf(e, inst.a)), heldAs(inst.type)];
      if (from !== to) e.code.op(`${to}.reinterpret_${from}`);
    },
    fptosi: (inst) => floatToInt(e, inst, true),
    fptoui: (inst) => floatToInt(e, inst, false),
    sitofp: (inst) => intToFloat(e, inst, true),
    uitofp: (inst) => intToFloat(e, inst, false),
    fpext: (inst) => {
      pushFloat(e, inst.a);
      if (inst.type === 'f64' && typeOf(e, inst.a) !== 'f64') e.code.op('f64.promote_f32');
    },
    fptrunc: (inst) => {
      pushFloat(e, inst.a);
      const from = typeOf(e, inst.a);
      if (inst.type === 'f32') e.code.op('f32.demote_f64');
      else narrowFrom(e, inst.type, computedAs(from));
    },
    select: (inst) => select(e, inst),
    vec2: (inst) => pushAll(e, [inst.a, inst.b]),
    vec4: (inst) => pushAll(e, [inst.a, inst.b, inst.c, inst.d]),
    extract: (inst) => e.values.pushLane(inst.a, inst.lane),
    ptradd: int('add'),
    ptrtoint: (inst) => convertAddress(e, inst.a, typeOf(e, inst.a), 'i64.sub'),
    inttoptr: (inst) => convertAddress(e, inst.a, inst.type, 'i64.add'),
    load: (inst) => load(e, inst),
    store: (inst) => store(e, inst),
    // Threads meet between regions; nothing is left to do inside one.
    barrier: () => {},
  } satisfies { [K in Op]: (inst: InstOf<K>, value: Value) => void };
}

const typeOf = (e: Emitter, value: Value): Type => e.kernel.insts[value]!.type;
const call = (e: Emitter, name: string): void => e.code.at('call', e.helper(name as HelperName));
const pushPlain = (e: Emitter, value: Value): void => e.values.push(value);

function pushAll(e: Emitter, values: readonly Value[]): void {
  for (const value of values) e.values.push(value);
}

/** Narrow integers are kept zero-extended. */
function mask(e: Emitter, type: Type): void {
  if (!isNarrow(type) || isShort(type)) return;
  e.code.i32(2 ** bitsOf(type) - 1);
  e.code.op('i32.and');
}

/** An integer, sign-extended to the width in which it is held. */
function pushSigned(e: Emitter, value: Value): void {
  const type = typeOf(e, value);
  if (type === 'i1') e.code.i32(0);
  e.values.push(value);
  if (type === 'i1') e.code.op('i32.sub');
  if (type === 'i8' || type === 'i16') e.code.op(`i32.extend${bitsOf(type)}_s`);
}

/** A float in the type it is computed in. */
function pushFloat(e: Emitter, value: Value): void {
  const type = typeOf(e, value);
  e.values.push(value);
  if (isShort(type)) e.code.at('call', e.host.functions[`${type}Value`]);
}

/** A computed float to its own type. A float result of two halves has enough bits that rounding it once more is harmless. */
function narrow(e: Emitter, type: Type): void {
  if (isShort(type)) narrowFrom(e, type, 'f32');
}

function narrowFrom(e: Emitter, type: Type, from: 'f32' | 'f64'): void {
  if (from === 'f32') e.code.op('f64.promote_f32');
  e.code.at('call', e.host.functions[type === 'f16' ? 'f16Bits' : 'bf16Bits']);
}

function highProduct(e: Emitter, inst: InstOf<'smulhi'> | InstOf<'umulhi'>, isSigned: boolean): void {
  const { type } = inst;
  const push = isSigned ? pushSigned : pushPlain;
  const isWord = type === 'i32';
  const widen = isSigned ? 'i64.extend_i32_s' : 'i64.extend_i32_u';
  for (const operand of [inst.a, inst.b]) {
    push(e, operand);
    if (isWord) e.code.op(widen);
  }
  if (type === 'i64') return call(e, isSigned ? 'smulhi64' : 'umulhi64');
  if (isWord) {
    e.code.op('i64.mul');
    e.code.i64(32n);
    e.code.op('i64.shr_u');
    e.code.op('i32.wrap_i64');
    return;
  }
  e.code.op('i32.mul');
  e.code.i32(bitsOf(type));
  e.code.op(isSigned ? 'i32.shr_s' : 'i32.shr_u');
  mask(e, type);
}

function pushCount(e: Emitter, type: 'i32' | 'i64', value: number): void {
  if (type === 'i32') e.code.i32(value);
  else e.code.i64(BigInt(value));
}

/** The constant count of a shift, where it is one and below the width. */
function constantCount(e: Emitter, inst: { type: Type; b: Value }): number | undefined {
  const count = e.kernel.insts[inst.b]!;
  return count.op === 'const' && count.bits < BigInt(bitsOf(inst.type)) ? Number(count.bits) : undefined;
}

/** Counts of the width and more give 0. */
function shift(e: Emitter, inst: { type: Type; a: Value; b: Value }, name: 'shl' | 'shr_u'): void {
  const held = heldAs(inst.type) as 'i32' | 'i64';
  e.values.push(inst.a);
  if (constantCount(e, inst) !== undefined) {
    e.values.push(inst.b);
    e.code.op(`${held}.${name}`);
    return mask(e, inst.type);
  }
  const count = e.values.scratch(held);
  e.values.push(inst.b);
  e.code.at('local.tee', count);
  e.code.op(`${held}.${name}`);
  mask(e, inst.type);
  pushCount(e, held, 0);
  isBelowWidth(e, held, count, bitsOf(inst.type));
  e.code.op('select');
}

/** Counts of the width and more give the sign throughout, as the largest count does. */
function shiftSigned(e: Emitter, inst: { type: Type; a: Value; b: Value }): void {
  const held = heldAs(inst.type) as 'i32' | 'i64';
  const width = bitsOf(inst.type);
  pushSigned(e, inst.a);
  e.values.push(inst.b);
  if (constantCount(e, inst) === undefined) {
    const count = e.values.scratch(held);
    e.code.at('local.tee', count);
    pushCount(e, held, width - 1);
    isBelowWidth(e, held, count, width);
    e.code.op('select');
  }
  e.code.op(`${held}.shr_s`);
  mask(e, inst.type);
}

function isBelowWidth(e: Emitter, held: 'i32' | 'i64', count: number, width: number): void {
  e.code.at('local.get', count);
  pushCount(e, held, width);
  e.code.op(`${held}.lt_u`);
}

function leadingZeros(e: Emitter, inst: InstOf<'clz'>): void {
  const held = heldAs(inst.type);
  e.values.push(inst.a);
  e.code.op(`${held}.clz`);
  if (!isNarrow(inst.type)) return;
  e.code.i32(32 - bitsOf(inst.type));
  e.code.op('i32.sub');
}

function compareInt(e: Emitter, inst: InstOf<'icmp'>): void {
  const isSigned = inst.pred.startsWith('s');
  const push = isSigned ? pushSigned : pushPlain;
  push(e, inst.a);
  push(e, inst.b);
  const name = inst.pred === 'eq' || inst.pred === 'ne' ? inst.pred : `${inst.pred.slice(1)}_${inst.pred[0]}`;
  e.code.op(`${heldAs(typeOf(e, inst.a))}.${name}`);
}

/** A comparison as WebAssembly has it, or by a helper; the unordered ones are the negations of the opposite ordered ones. */
const comparisons: Record<FcmpPredicate, { readonly name: string; readonly isNegated: boolean }> = {
  oeq: { name: 'eq', isNegated: false },
  one: { name: 'one', isNegated: false },
  olt: { name: 'lt', isNegated: false },
  ole: { name: 'le', isNegated: false },
  ogt: { name: 'gt', isNegated: false },
  oge: { name: 'ge', isNegated: false },
  ord: { name: 'ord', isNegated: false },
  ueq: { name: 'one', isNegated: true },
  une: { name: 'ne', isNegated: false },
  ult: { name: 'ge', isNegated: true },
  ule: { name: 'gt', isNegated: true },
  ugt: { name: 'le', isNegated: true },
  uge: { name: 'lt', isNegated: true },
  uno: { name: 'ord', isNegated: true },
};

function compareFloat(e: Emitter, inst: InstOf<'fcmp'>): void {
  const type = computedAs(typeOf(e, inst.a));
  const { name, isNegated } = comparisons[inst.pred];
  pushFloat(e, inst.a);
  pushFloat(e, inst.b);
  if (name === 'one' || name === 'ord') call(e, `${name}${suffix(type)}`);
  else e.code.op(`${type}.${name}`);
  if (isNegated) e.code.op('i32.eqz');
}

function fma(e: Emitter, inst: InstOf<'fma'>): void {
  pushAll(e, [inst.a, inst.b, inst.c]);
  if (inst.type === 'f32') return call(e, 'fma32');
  e.code.at('call', e.host.functions[({ f64: 'fmaF64', f16: 'fmaF16', bf16: 'fmaBf16' } as const)[inst.type as 'f64' | 'f16' | 'bf16']]);
}

/** Negation and absolute value act on the sign bit, of NaN too. */
function signBit(e: Emitter, inst: InstOf<'fneg'> | InstOf<'fabs'>, name: 'neg' | 'abs'): void {
  e.values.push(inst.a);
  if (!isShort(inst.type)) return e.code.op(`${inst.type}.${name}`);
  e.code.i32(name === 'neg' ? 0x8000 : 0x7fff);
  e.code.op(name === 'neg' ? 'i32.xor' : 'i32.and');
}

function truncate(e: Emitter, inst: InstOf<'trunc'>): void {
  e.values.push(inst.a);
  if (heldAs(inst.type) === 'i32' && heldAs(typeOf(e, inst.a)) === 'i64') e.code.op('i32.wrap_i64');
  mask(e, inst.type);
}

function floatToInt(e: Emitter, inst: InstOf<'fptosi'> | InstOf<'fptoui'>, isSigned: boolean): void {
  const held = heldAs(inst.type) as 'i32' | 'i64';
  pushFloat(e, inst.a);
  e.code.op(`${held}.trunc_sat_${computedAs(typeOf(e, inst.a))}_${isSigned ? 's' : 'u'}`);
  if (!isNarrow(inst.type)) return;
  const half = 2 ** (bitsOf(inst.type) - 1);
  e.code.i32(isSigned ? half - 1 : 2 * half - 1);
  call(e, isSigned ? 'smin32' : 'umin32');
  if (!isSigned) return;
  e.code.i32(-half);
  call(e, 'smax32');
  mask(e, inst.type);
}

function intToFloat(e: Emitter, inst: InstOf<'sitofp'> | InstOf<'uitofp'>, isSigned: boolean): void {
  const held = heldAs(typeOf(e, inst.a));
  const sign = isSigned ? 's' : 'u';
  (isSigned ? pushSigned : pushPlain)(e, inst.a);
  if (!isShort(inst.type)) return e.code.op(`${inst.type}.convert_${held}_${sign}`);
  if (held === 'i64') return e.code.at('call', e.host.functions[`${inst.type}Of${isSigned ? 'Signed' : 'Unsigned'}`]);
  e.code.op(`f64.convert_i32_${sign}`);
  narrowFrom(e, inst.type, 'f64');
}

/** An address of shared, constant or local memory is, as an integer, its offset in the window. */
function convertAddress(e: Emitter, value: Value, pointer: Type, op: 'i64.add' | 'i64.sub'): void {
  e.values.push(value);
  const space = pointer.slice('ptr.'.length);
  if (space !== 'shared' && space !== 'constant' && space !== 'local') return;
  e.window(space);
  e.code.op(op);
}

function select(e: Emitter, inst: InstOf<'select'>): void {
  if (!isVector(inst.type)) {
    pushAll(e, [inst.a, inst.b, inst.cond]);
    return e.code.op('select');
  }
  const cond = e.values.scratch('i32');
  e.values.push(inst.cond);
  e.code.at('local.set', cond);
  for (let lane = 0; lane < lanesOf(inst.type); lane++) {
    e.values.pushLane(inst.a, lane);
    e.values.pushLane(inst.b, lane);
    e.code.at('local.get', cond);
    e.code.op('select');
  }
}

const loads: Record<string, string> = { i8: 'i32.load8_u', i16: 'i32.load16_u', f16: 'i32.load16_u', bf16: 'i32.load16_u' };
const stores: Record<string, string> = { i8: 'i32.store8', i16: 'i32.store16', f16: 'i32.store16', bf16: 'i32.store16' };

/**
 * The address on the stack as an index of memory. The first page is nobody's, and memory ends below 4 GiB: whatever lies
 * outside becomes an index at which every access traps.
 */
function wrapAddress(e: Emitter): void {
  const address = e.values.scratch('i64');
  e.code.at('local.tee', address);
  e.code.op('i32.wrap_i64');
  e.code.i32(-1);
  e.code.at('local.get', address);
  e.code.i64(65536n);
  e.code.op('i64.sub');
  e.code.i64(0xffff0000n);
  e.code.op('i64.lt_u');
  e.code.op('select');
}

function load(e: Emitter, inst: InstOf<'load'>): void {
  const element = elementOf(inst.type);
  const name = loads[element] ?? `${heldAs(element)}.load`;
  const size = bytesOf(element);
  e.values.push(inst.addr);
  wrapAddress(e);
  if (!isVector(inst.type)) return e.code.access(name, 1);
  const base = e.values.scratch('i32');
  e.code.at('local.set', base);
  for (let lane = 0; lane < lanesOf(inst.type); lane++) {
    e.code.at('local.get', base);
    e.code.access(name, 1, lane * size);
  }
}

function store(e: Emitter, inst: InstOf<'store'>): void {
  const type = typeOf(e, inst.value);
  const element = elementOf(type);
  const name = stores[element] ?? `${heldAs(element)}.store`;
  e.values.push(inst.addr);
  wrapAddress(e);
  if (!isVector(type)) {
    e.values.push(inst.value);
    return e.code.access(name, 1);
  }
  const base = e.values.scratch('i32');
  e.code.at('local.set', base);
  for (let lane = 0; lane < lanesOf(type); lane++) {
    e.code.at('local.get', base);
    e.values.pushLane(inst.value, lane);
    e.code.access(name, 1, lane * bytesOf(element));
  }
}
