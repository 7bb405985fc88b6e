/** How passes over lines read and write memory: arrays of parts or pairs, with a constant or a given step. */
import { type Pointer, type Type, type Value, v2, vector } from '../build/index.ts';
import type { Place, Word } from './line.ts';
import type { Complex } from './small.ts';

/** Arrays of parts, or pairs, which may have the imaginary part first. */
export type Stored = 'parts' | 'pairs' | 'swapped';

/** What is read or written of a line. */
export interface Ports {
  read(k: Place): Complex;
  write(k: Place, value: Complex): void;
}

/** Where a line is. */
export interface Side {
  readonly stored: Stored;
  readonly re: Pointer<'f32', 'global' | 'shared'>;
  readonly im: Pointer<'f32', 'global' | 'shared'>;
  /** The first number, as a sum. */
  readonly start: readonly Word[];
  /** Numbers from one to the next. */
  readonly step: number | Word;
}

/** A side from a later number on. */
export const from = (side: Side, ...by: readonly Word[]): Side => ({ ...side, start: [...side.start, ...by] });

interface Elements<E> {
  add(by: Word): Elements<E>;
  at(index: number): E;
}
interface Element<T> {
  get(): T;
  set(value: unknown): void;
}

function elementOf<T>(pointer: unknown, { start, step }: Side, { at, plus }: Place): Element<T> {
  const isConstant = typeof step === 'number';
  const by = isConstant ? at?.mul(step) : at ? at.add(plus).mul(step) : plus === 0 ? undefined : step.mul(plus);
  const all = by ? [...start, by] : start;
  return all.reduce((sum, each) => sum.add(each), pointer as Elements<Element<T>>).at(isConstant ? plus * step : 0);
}

/** The ports of a side. */
export function portsOf(side: Side, type: Type<'f32'>): Ports {
  const { stored, re, im } = side;
  if (stored === 'parts')
    return {
      read: (k) => ({ re: elementOf<Value<'f32'>>(re, side, k).get(), im: elementOf<Value<'f32'>>(im, side, k).get() }),
      write(k, value) {
        elementOf(re, side, k).set(value.re);
        elementOf(im, side, k).set(value.im);
      },
    };
  const pairs = re.as(v2(type));
  const isSwapped = stored === 'swapped';
  return {
    read(k) {
      const { x, y } = elementOf<{ x: Value<'f32'>; y: Value<'f32'> }>(pairs, side, k).get();
      return isSwapped ? { re: y, im: x } : { re: x, im: y };
    },
    write: (k, { re: x, im: y }) => elementOf(pairs, side, k).set(vector(type, isSwapped ? [y, x] : [x, y])),
  };
}
