/** Computations whose results are known, by what makes them equal. */
import { isCommutative } from './signature.ts';
import type { Inst, SsaType, Value } from './types.ts';

/** An instruction as far as it decides about its result; the version is that of the memory or of the global that it reads. */
export interface Computation {
  readonly op: string;
  readonly type: SsaType;
  readonly args: readonly Value[];
  readonly offset: number;
  /** The number of the lane or of the global. */
  readonly lane: number;
  readonly immediates: string;
  readonly version: number;
}

/** A computation of an instruction. Operands that may change places are in the order of their numbers. */
export function computationOf({ op, args, offset, lane, index, bytes, words, kind }: Inst, type: SsaType, version: number): Computation {
  const [a, b] = args;
  return {
    op,
    // Equal operands make results of several widths: a splat of one scalar.
    type,
    args: a! > b! && isCommutative(op) ? [b!, a!] : args,
    offset: offset ?? 0,
    lane: lane ?? index ?? 0,
    immediates: bytes || words || kind ? `${bytes ?? ''};${words ?? ''};${kind ?? ''}` : '',
    version,
  };
}

interface Entry {
  readonly computation: Computation;
  value: Value;
  readonly next: Entry | undefined;
}

export interface KnownResults {
  get(computation: Computation): Value | undefined;
  set(computation: Computation, value: Value): void;
}

export function newKnownResults(): KnownResults {
  const entries = new Map<number, Entry>();
  const find = (computation: Computation, hash: number): Entry | undefined => {
    let entry = entries.get(hash);
    while (entry && !isSame(entry.computation, computation)) entry = entry.next;
    return entry;
  };
  return {
    get: (computation) => find(computation, hashOf(computation))?.value,
    set(computation, value) {
      const hash = hashOf(computation);
      const entry = find(computation, hash);
      if (entry) entry.value = value;
      else entries.set(hash, { computation, value, next: entries.get(hash) });
    },
  };
}

const numbers = new Map<string, number>();

/** A number of a name, the same each time. */
function numberOf(name: string): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  numbers.set(name, numbers.size);
  return numbers.size - 1;
}

function hashOf({ op, args, offset, lane, version }: Computation): number {
  let hash = Math.imul(numberOf(op), 0x9e3779b1) ^ Math.imul(version, 0x85ebca6b) ^ Math.imul(offset + 31 * lane, 0xc2b2ae35);
  for (const arg of args) hash = Math.imul(hash ^ arg, 0x01000193) ^ (hash >>> 15);
  return hash;
}

const isSame = (a: Computation, b: Computation): boolean => a.version === b.version && isSameButVersion(a, b);

/** Whether two computations differ at most in the version of what they read. */
export function isSameButVersion(a: Computation, b: Computation): boolean {
  if (a.op !== b.op || a.type !== b.type || a.offset !== b.offset || a.lane !== b.lane) return false;
  if (a.args.length !== b.args.length || a.immediates !== b.immediates) return false;
  for (let i = 0; i < a.args.length; i++) if (a.args[i] !== b.args[i]) return false;
  return true;
}
