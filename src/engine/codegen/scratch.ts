/**
 * Scratch locals: a checked allocator of the locals that the emitter of one instruction uses inside itself. Each function being written has one
 * allocator with a free list by type. A local that is in use is never handed out again before it is released, and giving back a local that is not
 * in use is an internal error.
 *
 * `withScratch` is the normal form: the locals are in use while its body runs. Scopes nest. An operand that is pushed inside a scope may be a
 * deferred expression of the same rule, whose own scope then gets other locals, so the order of pushing operands and setting scratch locals does not
 * matter for correctness. A rule that pushes its operands before it opens its scope shares its locals with the rules of its operands, which keeps
 * functions small.
 *
 * A body has to emit every instruction that uses the locals before it returns: a callback that emits code later (the tasks of `nesting.ts`) takes and
 * releases a local itself, by `take` and `give`.
 */
import { bug } from '../../base/bug.ts';
import type { Code, ValueType } from '../../wasm/index.ts';

/** The scratch locals of one function. */
export interface Scratch {
  /** A local that is in use until it is released. */
  take(type: ValueType): number;
  give(local: number): void;
}

/** As many numbers as a literal type says; of an unknown count an array. */
type Locals<N extends number, Taken extends number[] = []> = number extends N
  ? readonly number[]
  : Taken['length'] extends N
    ? Readonly<Taken>
    : Locals<N, [...Taken, number]>;

/** The allocator of a function that is being written. */
export function newScratch(code: Pick<Code, 'local'>): Scratch {
  const free = new Map<ValueType, number[]>();
  const inUse = new Map<number, ValueType>();
  return {
    take(type) {
      const local = free.get(type)?.pop() ?? code.local(type);
      inUse.set(local, type);
      return local;
    },
    give(local) {
      const type = inUse.get(local) ?? bug(`scratch local ${local} is released, but is not in use`);
      inUse.delete(local);
      free.set(type, [...(free.get(type) ?? []), local]);
    },
  };
}

/** Runs `body` with `count` scratch locals of a type, which are in use until it returns. */
export function withScratch<const N extends number, Result>(
  { scratch }: { readonly scratch: Scratch },
  type: ValueType,
  count: N,
  body: (locals: Locals<N>) => Result,
): Result {
  const locals = Array.from({ length: count }, () => scratch.take(type));
  const result = body(locals as Locals<N>);
  for (const local of [...locals].reverse()) scratch.give(local);
  return result;
}
