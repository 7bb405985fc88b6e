/** Vectors: two or four values of a type, which memory is read and written by at once. */
import { computed, inRegister, type Operand, settled } from './handle.ts';
import { vectorNode } from './nodes.ts';
import type { Type, TypeName } from './types.ts';
import { constant, Value } from './value.ts';

/** Values of a type next to each other. */
export class Vector<T extends TypeName = TypeName, N extends number = number> {
  /** The name of the type of a lane. */
  readonly type: T;
  /** The values. */
  readonly lanes: readonly Value<T>[] & { readonly length: N };

  /** @internal */
  constructor(type: T, lanes: readonly Value<T>[]) {
    this.type = type;
    this.lanes = lanes as readonly Value<T>[] & { readonly length: N };
  }

  /** The first value. */
  get x(): Value<T> {
    return this.lanes[0]!;
  }

  /** The second value. */
  get y(): Value<T> {
    return this.lanes[1]!;
  }

  /** The third value, of vectors of four. */
  get z(): N extends 4 ? Value<T> : never {
    return this.lanes[2] as N extends 4 ? Value<T> : never;
  }

  /** The fourth value, of vectors of four. */
  get w(): N extends 4 ? Value<T> : never {
    return this.lanes[3] as N extends 4 ? Value<T> : never;
  }

  /** A vector of what a function makes of each value. */
  map<U extends TypeName>(make: (lane: Value<T>, index: number) => Value<U>): Vector<U, N> {
    const lanes = this.lanes.map((lane, index) => make(lane, index));
    return new Vector(lanes[0]!.type, lanes);
  }
}

/** A vector of values or constants. */
export const vector = <T extends TypeName, const L extends readonly Operand<NoInfer<T>>[]>(
  type: Type<T>,
  lanes: L,
): Vector<T, L['length']> =>
  new Vector(
    type.name,
    lanes.map((lane) => laneOf(type, lane)),
  );

function laneOf<T extends TypeName>(type: Type<T>, given: Operand<T>): Value<T> {
  if (typeof given !== 'object') return constant(type, given as never);
  const handle = 'register' in given ? given : given.get();
  // What a variable has now: a vector does not change with it.
  return new Value(type.name, settled(handle)) as Value<T>;
}

interface PairOf {
  readonly f16: 'f16x2';
  readonly bf16: 'bf16x2';
  readonly u16: 'b32';
  readonly b16: 'b32';
}

/** Two values of 16 bits in 32, the low one first. */
export function pack<T extends keyof PairOf>(low: Value<T>, high: Operand<T>): Value<PairOf[T]> {
  const { type } = low;
  const to = (type === 'f16' || type === 'bf16' ? `${type}x2` : 'b32') as PairOf[T];
  return new Value(to, computed(to, 'mov.b32', [vectorNode([inRegister(type, low), inRegister(type, high)])]));
}
