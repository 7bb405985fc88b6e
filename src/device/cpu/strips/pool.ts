/**
 * Vectors that are constant, in memory beside the kernel's own constants: JavaScriptCore makes every vector anew from words where it is used,
 * in as many steps as a multiplication takes, while a load is one.
 */
import type { Code } from '../../../wasm/index.ts';

export interface Pool {
  /** The bytes so far. */
  readonly bytes: () => Uint8Array;
  /** Offset of a vector. */
  readonly place: (words: readonly number[]) => number;
}

/** An empty pool. */
export function newPool(): Pool {
  const offsets = new Map<string, number>();
  const all: number[] = [];
  return {
    bytes: () => new Uint8Array(Uint32Array.from(all).buffer),
    place(words) {
      const key = words.map((word) => word >>> 0).join();
      const known = offsets.get(key) ?? 4 * all.length;
      if (!offsets.has(key)) all.push(...words.map((word) => word >>> 0));
      offsets.set(key, known);
      return known;
    },
  };
}

/** Code whose vectors come from the pool, which starts `offset` bytes behind the address in a local; those of all zeros or all ones are made. */
export function pooledCode(code: Code, pool: Pool, local: number, offset: number): Code {
  const v128 = (words: readonly number[]): void => {
    const [first] = words;
    if ((first === 0 || first === -1) && words.every((word) => word === first)) return code.v128(words);
    code.at('local.get', local);
    code.access('v128.load', 4, offset + pool.place(words));
  };
  return Object.assign(Object.create(code) as Code, { v128 });
}
