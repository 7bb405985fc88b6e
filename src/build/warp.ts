/** Operations of warps: 32 threads that exchange values without memory. Source: PTX ISA 9.0, 9.7.9.6 (shfl) and 9.7.13 (vote, match, redux). */
import { fail } from './fail.ts';
import { added, type Handle, inRegister, nodeOf, type Operand, settled } from './handle.ts';
import { integerNode, nameNode } from './nodes.ts';
import { trace } from './trace.ts';
import { type TypeName, types } from './types.ts';
import { Value } from './value.ts';

/** All lanes. */
const allLanes = 0xffffffff;

/** The lanes that take part: a mask with a bit for each, all by default. Every one of them calls the operation, with the same mask. */
export interface WarpOptions {
  /** A bit for each lane; all 32 by default. */
  readonly mask?: Operand<'u32'>;
}

/** Options of a shuffle. */
export interface ShuffleOptions extends WarpOptions {
  /** The lanes of a group, a power of two up to 32: lanes of a group exchange values with each other only. 32 by default. */
  readonly width?: 1 | 2 | 4 | 8 | 16 | 32;
}

const maskNode = ({ mask = allLanes }: WarpOptions): ReturnType<typeof nodeOf> => nodeOf('u32', mask);

type Mode = 'idx' | 'up' | 'down' | 'bfly';

/** A shuffle of a value of any width: narrow ones are widened, and those of 64 bits are exchanged in halves. */
function shuffle<T extends TypeName>(mode: Mode, value: Handle<T>, by: Operand<'u32'>, options: ShuffleOptions): Value<T> {
  const { type } = value;
  const node = inRegister(type, value);
  const { width = 32 } = options;
  const clamp = ((32 - width) << 8) | (mode === 'up' ? 0 : 31);
  const move = (word: string): string =>
    added('b32', `shfl.sync.${mode}.b32`, [nameNode(word), nodeOf('u32', by), integerNode(clamp), maskNode(options)]);
  const made = (register: string): Value<T> => new Value(type, register);
  const { bits, register } = types[type];
  if (type === 'pred') {
    const word = added('b32', 'selp.b32', [integerNode(1), integerNode(0), node]);
    return made(added('pred', 'setp.ne.u32', [nameNode(move(word)), integerNode(0)]));
  }
  if (bits <= 16) return made(added(type, 'cvt.u16.u32', [nameNode(move(added('b32', 'cvt.u32.u16', [node])))]));
  if (bits === 64) return made(joined(type, halves(node).map(move)));
  if (register === 'r') return made(added(type, 'mov.b32', [nameNode(move((node as { name: string }).name))]));
  return made(added(type, 'mov.b32', [nameNode(move(added('b32', 'mov.b32', [node])))]));
}

/** The halves of a register of 64 bits, the low one first. */
function halves(node: ReturnType<typeof nodeOf>): [string, string] {
  const to = trace();
  const pair: [string, string] = [to.fresh('b32'), to.fresh('b32')];
  to.emit('mov.b64', [{ kind: 'vector', elements: pair.map(nameNode), span: { start: 0, end: 0 } }, node]);
  return pair;
}

const joined = (type: TypeName, pair: readonly string[]): string =>
  added(type, 'mov.b64', [{ kind: 'vector', elements: pair.map(nameNode), span: { start: 0, end: 0 } }]);

/** The value of the lane whose index differs in the bits of `mask`: the steps of a reduction in which every lane has the result. */
export const shuffleXor = <T extends TypeName>(value: Handle<T>, mask: Operand<'u32'>, options: ShuffleOptions = {}): Value<T> =>
  shuffle('bfly', value, mask, options);
/** The value of the lane `by` before this one; its own for the first lanes of a group. */
export const shuffleUp = <T extends TypeName>(value: Handle<T>, by: Operand<'u32'>, options: ShuffleOptions = {}): Value<T> =>
  shuffle('up', value, by, options);
/** The value of the lane `by` behind this one; its own for the last lanes of a group. */
export const shuffleDown = <T extends TypeName>(value: Handle<T>, by: Operand<'u32'>, options: ShuffleOptions = {}): Value<T> =>
  shuffle('down', value, by, options);
/** The value of a lane by its index in the group. */
export const shuffleFrom = <T extends TypeName>(value: Handle<T>, lane: Operand<'u32'>, options: ShuffleOptions = {}): Value<T> =>
  shuffle('idx', value, lane, options);

const vote = (mode: 'all' | 'any' | 'uni', condition: Handle<'pred'>, options: WarpOptions): Value<'pred'> =>
  new Value('pred', added('pred', `vote.sync.${mode}.pred`, [inRegister('pred', condition), maskNode(options)]));

/** Whether a condition holds for every lane. */
export const all = (condition: Handle<'pred'>, options: WarpOptions = {}): Value<'pred'> => vote('all', condition, options);
/** Whether a condition holds for a lane. */
export const any = (condition: Handle<'pred'>, options: WarpOptions = {}): Value<'pred'> => vote('any', condition, options);
/** Whether a condition is the same for every lane. */
export const uniform = (condition: Handle<'pred'>, options: WarpOptions = {}): Value<'pred'> => vote('uni', condition, options);
/** A mask of the lanes for which a condition holds. */
export const ballot = (condition: Handle<'pred'>, options: WarpOptions = {}): Value<'u32'> =>
  new Value('u32', added('u32', 'vote.sync.ballot.b32', [inRegister('pred', condition), maskNode(options)]));

type Matched = 'u32' | 's32' | 'b32' | 'u64' | 's64' | 'b64';

/** A mask of the lanes with the same value; it needs sm_70. */
export const matchAny = (value: Handle<Matched>, options: WarpOptions = {}): Value<'u32'> =>
  new Value('u32', added('u32', `match.any.sync.b${types[value.type].bits}`, [inRegister(value.type, value), maskNode(options)]));

/** The mask if all lanes have the same value, else 0; it needs sm_70. */
export const matchAll = (value: Handle<Matched>, options: WarpOptions = {}): Value<'u32'> =>
  new Value('u32', added('u32', `match.all.sync.b${types[value.type].bits}`, [inRegister(value.type, value), maskNode(options)]));

/** The operations of `reduceWarp`, by type. */
export type WarpReduction<T extends 'u32' | 's32' | 'b32'> = T extends 'b32' ? 'and' | 'or' | 'xor' : 'add' | 'min' | 'max';

/** One value of all lanes by an operation of the hardware; it needs sm_80. `warpReduce` works on any architecture and type. */
export const reduceWarp = <T extends 'u32' | 's32' | 'b32'>(
  operation: WarpReduction<T>,
  value: Handle<T>,
  options: WarpOptions = {},
): Value<T> =>
  new Value(value.type, added(value.type, `redux.sync.${operation}.${value.type}`, [inRegister(value.type, value), maskNode(options)]));

/** A mask of the lanes that are here together. */
export const activeMask = (): Value<'u32'> => new Value('u32', added('u32', 'activemask.b32', []));

/** Waits for the lanes of a mask, and orders their memory. */
export const syncWarp = (options: WarpOptions = {}): void => trace('syncWarp').emit('bar.warp.sync', [maskNode(options)]);

/**
 * One value of the lanes of a group by any operation that does not depend on order: every lane has it. The steps are those of a butterfly: the
 * same sum on every device.
 */
export function warpReduce<T extends TypeName>(
  value: Value<T>,
  combine: (a: Value<T>, b: Value<T>) => Value<T>,
  options: ShuffleOptions = {},
): Value<T> {
  const { width = 32 } = options;
  if (![1, 2, 4, 8, 16, 32].includes(width)) fail('CM5088', { what: 'a width', why: `${width} is no power of two up to 32` });
  // A group of one lane has what a variable is now, and not the variable.
  let result: Value<T> = width === 1 ? new Value(value.type, settled(value)) : value;
  for (let distance = width / 2; distance >= 1; distance /= 2) result = combine(result, shuffleXor(result, distance, options));
  return result;
}
