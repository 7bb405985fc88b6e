/** Atomics, fences and barriers. Source: PTX ISA 9.0, 9.7.13. */
import { added, inRegister, type Operand } from './handle.ts';
import { integerNode } from './nodes.ts';
import { bracketed, type Element, type MemoryScope, spaceWord } from './pointer.ts';
import { trace } from './trace.ts';
import { type MemoryName, types } from './types.ts';
import { Value } from './value.ts';

/** The space of atomics: addresses that all threads of a block share. */
type AtomicSpace = 'global' | 'shared' | 'generic';

/** The operations of atomics, by the type of the element. `inc` wraps to 0 above the operand, `dec` to the operand below 0. */
export type AtomicOperation<T extends MemoryName> = T extends 'u32'
  ? 'add' | 'min' | 'max' | 'inc' | 'dec' | 'and' | 'or' | 'xor' | 'exch'
  : T extends 's32' | 'u64' | 's64'
    ? 'add' | 'min' | 'max' | 'and' | 'or' | 'xor' | 'exch'
    : T extends 'f32' | 'f64'
      ? 'add' | 'exch'
      : T extends 'f16' | 'bf16' | 'f16x2' | 'bf16x2'
        ? 'add'
        : T extends 'b32' | 'b64'
          ? 'and' | 'or' | 'xor' | 'exch'
          : never;

/** Types with an atomic compare and exchange. */
export type ExchangeName = 'b16' | 'u16' | 's16' | 'u32' | 's32' | 'b32' | 'f32' | 'u64' | 's64' | 'b64' | 'f64';

/** The order of an atomic, and the threads that it is atomic for. */
export interface AtomicOptions {
  /** `relaxed` by default; other orders need sm_70. */
  readonly order?: 'relaxed' | 'acquire' | 'release' | 'acq_rel';
  /** The device by default. A scope needs sm_60. */
  readonly scope?: MemoryScope;
}

const words = ({ order, scope }: AtomicOptions): string => {
  const stated = order === undefined && scope === undefined ? '' : `.${order ?? 'relaxed'}.${scope ?? 'gpu'}`;
  // Without an order, a scope alone is understood by older architectures.
  return order === undefined && scope !== undefined ? `.${scope}` : stated;
};

/** The type that an operation names: `add` has no s64, bitwise operations and exchanges have bits. */
function typeOf(operation: string, type: MemoryName): string {
  const { kind, bits } = types[type];
  if (['and', 'or', 'xor', 'exch', 'cas'].includes(operation)) return `b${bits}`;
  if (operation !== 'add') return type;
  if (kind === 'pair' || bits === 16) return `noftz.${type}`;
  return type === 's64' ? 'u64' : type;
}

/** Combines memory with a value in one step that no other thread sees half of. Gives what memory had before. */
export function atomic<T extends MemoryName>(
  operation: AtomicOperation<T>,
  element: Element<T, AtomicSpace>,
  value: Operand<T>,
  options: AtomicOptions = {},
): Value<T> {
  const { type, space, address } = element;
  const name = `atom${words(options)}${spaceWord(space)}.${operation}.${typeOf(operation, type)}`;
  return new Value(type, added(type, name, [bracketed(address), inRegister(type, value)]));
}

/** Combines memory with a value, as `atomic`, where what memory had before is not needed. */
export function reduction<T extends MemoryName>(
  operation: Exclude<AtomicOperation<T>, 'exch'>,
  element: Element<T, AtomicSpace>,
  value: Operand<T>,
  options: Omit<AtomicOptions, 'order'> & { readonly order?: 'relaxed' | 'release' } = {},
): void {
  const { type, space, address } = element;
  const name = `red${words(options)}${spaceWord(space)}.${operation}.${typeOf(operation, type)}`;
  trace().emit(name, [bracketed(address), inRegister(type, value)]);
}

/** Stores `desired` if memory has `expected`. Gives what memory had before. */
export function compareExchange<T extends ExchangeName>(
  element: Element<T, AtomicSpace>,
  expected: Operand<T>,
  desired: Operand<T>,
  options: AtomicOptions = {},
): Value<T> {
  const { type, space, address } = element;
  const name = `atom${words(options)}${spaceWord(space)}.cas.b${types[type].bits}`;
  return new Value(type, added(type, name, [bracketed(address), inRegister(type, expected), inRegister(type, desired)]));
}

/** Waits for all threads of the block, and orders their memory. Every thread of the block reaches it. */
export const syncThreads = (): void => trace('syncThreads').emit('bar.sync', [integerNode(0)]);

/** Waits at one of 16 barriers for a number of threads, a multiple of 32; for all threads of the block if it is not given. */
export const syncBarrier = (barrier: number, threads?: number): void =>
  trace('syncBarrier').emit('bar.sync', [barrier, ...(threads === undefined ? [] : [threads])].map(integerNode));

/** Waits for all threads of the block. Gives the number of those for which a condition holds. */
export const syncCount = (condition: Operand<'pred'>): Value<'u32'> =>
  new Value('u32', added('u32', 'bar.red.popc.u32', [integerNode(0), inRegister('pred', condition)]));

/** Waits for all threads of the block. Gives whether a condition holds for all of them, or for one. */
export const syncVote = (mode: 'and' | 'or', condition: Operand<'pred'>): Value<'pred'> =>
  new Value('pred', added('pred', `bar.red.${mode}.pred`, [integerNode(0), inRegister('pred', condition)]));

/** Orders the memory of this thread for others: those of the block, of the device, or of all devices and the host. */
export const fence = (scope: 'cta' | 'gpu' | 'sys' = 'gpu'): void => trace('fence').emit(`membar.${scope === 'gpu' ? 'gl' : scope}`);

/** Orders memory as `fence` does, by the memory model of sm_70: sequentially consistent, or for an acquire and a release. */
export const fenceOf = (order: 'sc' | 'acq_rel', scope: MemoryScope = 'gpu'): void => trace('fenceOf').emit(`fence.${order}.${scope}`);
