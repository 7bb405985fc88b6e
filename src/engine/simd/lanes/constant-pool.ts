/**
 * Vectors that are constant, in memory beside the kernel's own constants: JavaScriptCore makes every vector anew from words where it is used,
 * in as many steps as a multiplication takes, while a load is one. Every instruction of the kernel has vectors of its own: of equal loads
 * engines make one, whose register is taken from there on, while what is at work goes through memory.
 */
import type { Code } from '../../../wasm/index.ts';

export interface ConstantPool {
  /** The bytes so far. */
  readonly bytes: () => Uint8Array;
  /** Has what follows not share with what was before. */
  begin(): void;
  /** Offset of a vector. */
  readonly place: (words: readonly number[]) => number;
}

/** Vectors after which those are shared that are there. */
const mostApart = 4096;

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
      const known = own.get(key) ?? (all.length < 4 * mostApart ? undefined : offsets.get(key));
      if (known !== undefined) return known;
      const offset = 4 * all.length;
      all.push(...words.map((word) => word >>> 0));
      offsets.set(key, offset);
      own.set(key, offset);
      return offset;
    },
  };
}

/** Code whose vectors come from the pool, which starts `offset` bytes behind the address in a local; those of all zeros or all ones are made. */
export function pooledCode(code: Code, pool: ConstantPool, local: number, offset: number): Code {
  const v128 = (words: readonly number[]): void => {
    const [first] = words;
    if ((first === 0 || first === -1) && words.every((word) => word === first)) return code.v128(words);
    code.at('local.get', local);
    code.access('v128.load', 4, offset + pool.place(words));
  };
  return Object.assign(Object.create(code) as Code, { v128 });
}
