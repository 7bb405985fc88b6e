/** Which instructions have a wide form, and what instructions do to memory. */
import { effectOf, signatureOf } from '../ssa/signature.ts';
import { type Inst, isGather } from '../ssa/types.ts';

/**
 * How instructions on 128 bits become one wide instruction:
 * - `lanes`: each vector operand is a group, each scalar operand is one value;
 * - `load`, `store`: the addresses are consecutive;
 * - `uniform`: without a vector operand, so that members with the same scalars are equal.
 */
export type PackForm = 'lanes' | 'load' | 'store' | 'uniform';

function formOfName(name: string): PackForm | undefined {
  if (name === 'v128.load') return 'load';
  if (name === 'v128.store') return 'store';
  if (name === 'select' || (isGather(name) && name !== 'vector.load64_gather')) return 'lanes';
  const signature = signatureOf(name);
  if (signature?.result !== 'v128' || name.includes('_lane')) return undefined;
  const effect = effectOf(name);
  if (effect === 'load') return name.endsWith('_splat') ? 'uniform' : undefined;
  if (effect !== 'pure') return undefined;
  return signature.params.includes('v128') ? 'lanes' : 'uniform';
}

/** A function of names, computed once for each. */
function byName<T>(compute: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  return (name) => {
    if (known.has(name)) return known.get(name)!;
    const value = compute(name);
    known.set(name, value);
    return value;
  };
}

/** The form of an instruction; undefined if it has no wide one. A `select` counts if it chooses between vectors. */
export const packFormOf = byName(formOfName);

/** What members of a group have to have in common besides their types. */
export function shapeOf({ op, lane, bytes, kind, offset }: Inst): string {
  if (bytes) return `${op} ${bytes.join()}`;
  if (offset !== undefined && (packFormOf(op) === 'uniform' || isGather(op))) return `${op} ${offset}`;
  return lane === undefined && kind === undefined ? op : `${op} ${lane} ${kind}`;
}

/**
 * Processor instructions that a group saves for each member but one. Conversions of half a vector are better as `vector.widen`, and a load is cheaper
 * than taking a part of a wide one.
 */
export const workOf = byName((op) => (/_low_|_high_/.test(op) || op === 'v128.load' ? 0.5 : 1));

const isCommutative = /^[if]\d+x\d+\.(add|add_sat_[su]|mul|min(_[su])?|max(_[su])?|eq|ne|avgr_u|relaxed_madd)$|^v128\.(and|or|xor)$/;
/** Whether the first two operands of an instruction may change places. */
export const commutes = byName((op) => isCommutative.test(op));

/**
 * What the order of instructions depends on. A barrier is crossed by nothing that reads, writes or traps; globals are read as if that could trap. A trap
 * may change places with accesses, as memory has no promised contents after a trap.
 */
export interface Access {
  readonly kind: 'none' | 'read' | 'write' | 'trap' | 'barrier';
  /** Bytes of memory, for each vector of 128 bits that an instruction reads or writes. */
  readonly bytes: number;
}

const sizeBytes: Readonly<Record<string, number>> = { '8': 1, '16': 2, '32': 4, '64': 8, '8x8': 8, '16x4': 8, '32x2': 8 };
const typeBytes: Readonly<Record<string, number>> = { i32: 4, i64: 8, f32: 4, f64: 8, v128: 16 };

export const accessOf = byName((op): Access => {
  const effect = effectOf(op);
  if (effect === 'pure' || effect === 'constant') return { kind: 'none', bytes: 0 };
  if (effect === 'trap' || effect === 'global.get') return { kind: 'trap', bytes: 0 };
  const access = /^(\w+)\.(?:load|store)(\d+x\d+|\d*)/.exec(op);
  if (!access || (effect !== 'load' && effect !== 'store')) return { kind: 'barrier', bytes: 0 };
  return { kind: effect === 'load' ? 'read' : 'write', bytes: sizeBytes[access[2]!] ?? typeBytes[access[1]!]! };
});
