/**
 * The constant pool: vector constants in memory beside the kernel's own constants. JavaScriptCore materializes a `v128.const` in three
 * instructions wherever it is used, while a load is one. Each instruction of the kernel has pool entries of its own: an engine merges equal
 * loads and keeps the result in a register from then on, and spills working values for it.
 */
import type { Code } from '../../../wasm/index.ts';

export interface ConstantPool {
  /** The bytes of the pool so far. */
  readonly bytes: () => Uint8Array;
  /** Starts a scope: the vectors that follow share no entry with earlier ones. */
  begin(): void;
  /** Offset of a vector in the pool. */
  readonly place: (words: readonly number[]) => number;
}

/** Vectors from which on a new scope shares the entries of earlier ones. */
const maxUnsharedVectors = 4096;

/** An empty pool. */
export function newConstantPool(): ConstantPool {
  const offsets = new Map<string, number>();
  const own = new Map<string, number>();
  const all: number[] = [];
  return {
    bytes: () => new Uint8Array(Uint32Array.from(all).buffer),
    begin: () => own.clear(),
    place(words) {
      const key = words.map((word) => word >>> 0).join();
      const known = own.get(key) ?? (all.length < 4 * maxUnsharedVectors ? undefined : offsets.get(key));
      if (known !== undefined) return known;
      const offset = 4 * all.length;
      all.push(...words.map((word) => word >>> 0));
      offsets.set(key, offset);
      own.set(key, offset);
      return offset;
    },
  };
}

/**
 * Code whose vector constants are loaded from the pool, which starts `offset` bytes behind the address in a local. All zeros and all ones
 * stay immediate.
 */
export function pooledCode(code: Code, pool: ConstantPool, local: number, offset: number): Code {
  const v128 = (words: readonly number[]): void => {
    const [first] = words;
    if ((first === 0 || first === -1) && words.every((word) => word === first)) return code.v128(words);
    code.at('local.get', local);
    code.access('v128.load', 4, offset + pool.place(words));
  };
  return Object.assign(Object.create(code) as Code, { v128 });
}
