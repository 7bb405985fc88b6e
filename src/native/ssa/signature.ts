/**
 * Types of operands and results of instructions, and what instructions do besides computing: all of it follows from their names.
 * Source: WebAssembly Core Specification 2.0, 3.3 (validation of instructions).
 */
import { instructions, type ValueType } from '../../wasm/index.ts';

export interface OpSignature {
  readonly params: readonly ValueType[];
  readonly result: ValueType | undefined;
}

/**
 * What an instruction does: nothing but its result (`pure`, `constant`); the same, but it may trap; it reads memory, where it may trap, too; it
 * changes memory or orders accesses of it; it reads or changes a global; or anything (a call).
 */
export type Effect = 'pure' | 'constant' | 'trap' | 'load' | 'store' | 'global.get' | 'global.set' | 'call';

const laneTypes: Record<string, ValueType> = { i8x16: 'i32', i16x8: 'i32', i32x4: 'i32', i64x2: 'i64', f32x4: 'f32', f64x2: 'f64' };

const comparison = /^(eq|ne|lt|gt|le|ge)(_[su])?$/;
const unaryNumber = /^(eqz|clz|ctz|popcnt|abs|neg|ceil|floor|trunc|nearest|sqrt|extend\d+_s)$/;
const unaryVector = /^(not|abs|neg|popcnt|ceil|floor|trunc|nearest|sqrt)$|^(demote|promote|extend|extadd|convert|trunc_sat)_/;

function ofNumber(type: ValueType, op: string): OpSignature {
  if (op.startsWith('load') || op.startsWith('atomic.load')) return { params: ['i32'], result: type };
  if (op.startsWith('store') || op.startsWith('atomic.store')) return { params: ['i32', type], result: undefined };
  if (op === 'atomic.rmw.cmpxchg') return { params: ['i32', type, type], result: type };
  if (op.startsWith('atomic.rmw')) return { params: ['i32', type], result: type };
  if (op === 'eqz') return { params: [type], result: 'i32' };
  if (op === 'const') return { params: [], result: type };
  if (unaryNumber.test(op)) return { params: [type], result: type };
  const from = /_([if](?:32|64))(?:_[su])?$/.exec(op);
  if (from) return { params: [from[1] as ValueType], result: type };
  return { params: [type, type], result: comparison.test(op) ? 'i32' : type };
}

function ofVector(shape: string, op: string): OpSignature {
  if (op === 'const') return { params: [], result: 'v128' };
  if (/^load.*_lane$/.test(op)) return { params: ['i32', 'v128'], result: 'v128' };
  if (op.startsWith('load')) return { params: ['i32'], result: 'v128' };
  if (op.startsWith('store')) return { params: ['i32', 'v128'], result: undefined };
  if (op === 'splat') return { params: [laneTypes[shape]!], result: 'v128' };
  if (op.startsWith('extract_lane')) return { params: ['v128'], result: laneTypes[shape]! };
  if (op === 'replace_lane') return { params: ['v128', laneTypes[shape]!], result: 'v128' };
  if (/^(any_true|all_true|bitmask)$/.test(op)) return { params: ['v128'], result: 'i32' };
  if (/^sh[lr](_[su])?$/.test(op)) return { params: ['v128', 'i32'], result: 'v128' };
  if (op === 'bitselect' || op === 'relaxed_madd') return { params: ['v128', 'v128', 'v128'], result: 'v128' };
  if (unaryVector.test(op)) return { params: ['v128'], result: 'v128' };
  return { params: ['v128', 'v128'], result: 'v128' };
}

const mayTrap = /^i\d+\.(div|rem)_|^i\d+\.trunc_f/;

function effectOfName(name: string): Effect {
  if (name.endsWith('.const')) return 'constant';
  if (name === 'call' || name === 'global.get' || name === 'global.set') return name;
  if (/\.store|^\w+\.atomic\.|^atomic/.test(name)) return 'store';
  if (/\.load/.test(name)) return 'load';
  return mayTrap.test(name) ? 'trap' : 'pure';
}

const structural = /^(unreachable|nop|return|drop|select|br|br_if|call|local\..*|global\..*)$/;

/** Signatures by name: of all instructions but those whose types depend on where they are. */
const signatures = new Map<string, OpSignature>();
for (const name of [...instructions.keys(), 'i32.const', 'i64.const', 'f32.const', 'f64.const', 'v128.const', 'i8x16.shuffle']) {
  if (structural.test(name)) continue;
  const [type = '', op = ''] = [name.slice(0, name.indexOf('.')), name.slice(name.indexOf('.') + 1)];
  if (name === 'atomic.fence') signatures.set(name, { params: [], result: undefined });
  else signatures.set(name, type in laneTypes || type === 'v128' ? ofVector(type, op) : ofNumber(type as ValueType, op));
}

const effects = new Map<string, Effect>();

/** The types of an instruction by its name; undefined for those whose types depend on where they are. */
export const signatureOf = (name: string): OpSignature | undefined => signatures.get(name);

/** What an instruction does, by its name. */
export function effectOf(name: string): Effect {
  const known = effects.get(name);
  if (known) return known;
  const effect = effectOfName(name);
  effects.set(name, effect);
  return effect;
}

const commutative = new Set(['i32', 'i64'].flatMap((type) => ['add', 'mul', 'and', 'or', 'xor', 'eq', 'ne'].map((op) => `${type}.${op}`)));

/** Whether the operands of an instruction may change places. */
export const isCommutative = (name: string): boolean => commutative.has(name);
