/** The values of a region while its code is emitted: the interface that rules and emitters use. `emit/deferred-values.ts` implements it. */
import type { Block, Value } from '../../../ir/index.ts';
import type { LaneGroup } from './lane-group.ts';

export interface GroupValues {
  readonly group: LaneGroup;
  /** The same values under another execution mask: a view that shares all locals and deferred expressions. */
  under(mask: LaneGroup['mask']): GroupValues;
  /** Starts a block: expressions that earlier blocks deferred are dropped. */
  beginBlock(block: Block): void;
  /** Takes a snapshot of a block's own values. The returned function restores it, so that a second path can emit the block's end again. */
  snapshot(block: Block): () => void;
  /** Emits a pure value of a block's body, or defers it to its use. */
  define(value: Value): void;
  /** Pops one vector of a value, or a scalar where it is uniform, into its local. */
  set(value: Value, element: number, part: number): void;
  setScalar(value: Value, element: number): void;
  /** Pops one vector of a value into its local; inactive lanes keep the old one where the value escapes its loop. */
  put(value: Value, element: number, part: number): void;
  /** Pushes one vector from a value's own locals. */
  get(value: Value, element: number, part: number): void;
  /** Pushes one element of a uniform value. */
  pushElement(value: Value, element: number): void;
  /** The number of vectors of one element of a value. */
  parts(value: Value): number;
  /** Visits the vectors of a value, or its elements where it is uniform. */
  eachPart(value: Value, act: (element: number, part: number) => void): void;
  /** Defers a dense or strided load to its use, where that is legal; `write` receives a local with the address. Returns whether it did. */
  deferLoad(value: Value, address: () => void, write: (base: number, part: number) => void): boolean;
  /** Emits the deferred expressions that read memory, before an instruction writes it. */
  flushLoads(): void;
  /** Locals with the same values as f64, two for each vector, valid to the end of the block. The caller sets fresh ones. */
  doubles(value: Value): { readonly locals: readonly number[]; readonly isFresh: boolean };
  /** Ends an instruction: the locals of operands without further uses become free. */
  finish(operands: readonly Value[]): void;
}
