/** Numbers in order of first use, and keys that make equal constants one value. */
import { bug } from '../../base/bug.ts';
import type { Constant, Value } from '../model.ts';
import { spell } from '../types.ts';

/** Ids in order of first use. */
export interface Numbering<T> {
  readonly list: T[];
  idOf(item: T): number;
  has(item: T): boolean;
  find(item: T): number | undefined;
}

/** An empty numbering. */
export function numbering<T>(): Numbering<T> & { add(item: T): number } {
  const ids = new Map<T, number>();
  const list: T[] = [];
  return {
    list,
    has: (item) => ids.has(item),
    find: (item) => ids.get(item),
    idOf: (item) => ids.get(item) ?? fail(item),
    add(item) {
      const known = ids.get(item);
      if (known !== undefined) return known;
      ids.set(item, list.length);
      return list.push(item) - 1;
    },
  };
}

/** Reports a reference to something that the module does not hold. */
export function fail(item: unknown): never {
  const kind = typeof item === 'object' && item !== null && 'kind' in item ? String(item.kind) : typeof item;
  return bug(`bitcode: a ${kind} that the module does not hold is referred to`);
}

const keys = new WeakMap<Constant, unknown>();

/** A key that is equal for equal constants; a global or function is its own. */
export function constantKey(constant: Constant): unknown {
  if (constant.kind !== 'constant') return constant;
  const known = keys.get(constant);
  if (known !== undefined) return known;
  const key = makeKey(constant);
  keys.set(constant, key);
  return key;
}

function makeKey(constant: Extract<Constant, { kind: 'constant' }>): unknown {
  const type = spell(constant.type);
  switch (constant.form) {
    case 'int':
      return `i ${type} ${constant.value}`;
    case 'float':
      return `f ${type} ${constant.bits}`;
    case 'null':
    case 'undef':
    case 'poison':
      return `${constant.form} ${type}`;
    default:
      return constant;
  }
}

/** A key that is equal for equal values. */
export const keyOf = (value: Value): unknown => (value.kind === 'argument' || value.kind === 'instruction' ? value : constantKey(value));
