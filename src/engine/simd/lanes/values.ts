/** The values of a region while its code is written: what rules and emitters ask of them. `emit/deferred-values.ts` implements it. */
import type { Block, Value } from '../../../ir/index.ts';
import type { LaneGroup } from './lane-group.ts';

export interface GroupValues {
  readonly strip: LaneGroup;
  /** Forgets what the block before left to be written. */
  begin(block: Block): void;
  /** Gives what has a block's own values as they are now, once others have been written, or the same block once more. */
  hold(block: Block): () => void;
  /** Writes a pure value of a block's body, or keeps it to be written where it is used. */
  define(value: Value): void;
  /** Sets one vector of a value from the stack, or its number where lanes share it. */
  set(value: Value, element: number, part: number): void;
  setScalar(value: Value, element: number): void;
  /** Sets one vector of a value, but for lanes that do not run where the value outlives them. */
  put(value: Value, element: number, part: number): void;
  /** Puts one vector of a value's own locals on the stack. */
  get(value: Value, element: number, part: number): void;
  /** Puts one element of what all lanes share on the stack. */
  pushElement(value: Value, element: number): void;
  /** Vectors of an element of a value. */
  parts(value: Value): number;
  /** Visits the vectors of a value, or its elements where lanes share them. */
  eachPart(value: Value, act: (element: number, part: number) => void): void;
  /** Keeps a load whose lanes lie side by side to be written where it is used, if that may be; `write` gets a local with the address. */
  deferLoad(value: Value, address: () => void, write: (base: number, part: number) => void): boolean;
  /** Writes what waits and reads memory, before something writes there. */
  flushLoads(): void;
  /** Locals for the same numbers as doubles, two for each vector; fresh ones have to be set. They are good to the end of the block. */
  doubles(value: Value): { readonly locals: readonly number[]; readonly isFresh: boolean };
  /** Says that an instruction has been written, and its operands are used up. */
  finish(operands: readonly Value[]): void;
}
