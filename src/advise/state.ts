/** The state of the search for the forms of a warp, and what all warps of a kernel have in common. */
import {
  type Cfg,
  type DominatorTree,
  isInt,
  type Kernel,
  type LaunchFacts,
  type LaunchRanges,
  type Loops,
  type Uniformity,
  type Value,
} from '../ir/index.ts';
import { type Form, opaque, type Unknown } from './forms.ts';
import type { AdvisedLaunch, Warp } from './launch.ts';

/** What all warps of a kernel have in common. */
export interface Prepared {
  readonly kernel: Kernel;
  readonly cfg: Cfg;
  readonly dominators: DominatorTree;
  readonly post: DominatorTree;
  readonly loops: Loops;
  readonly uniformity: Uniformity;
  readonly ranges: LaunchRanges;
  readonly facts: LaunchFacts;
  readonly launch: AdvisedLaunch;
  /** The block in which each value is defined. */
  readonly home: Int32Array;
  /** By value: how many of its last bits are 0. */
  readonly zeros: Uint8Array;
  /** The unknown numbers that all threads of a launch share, by name. */
  readonly fixed: Map<string, Unknown>;
}

/** The lanes that execute a block together, each time it is executed: their bits, `none` of this warp, or `some`. */
export type Lanes = number | 'none' | 'some';

/** A warp of a kernel. */
export interface WarpForms {
  readonly warp: Warp;
  readonly of: (value: Value) => Form;
  /** The form of a value as a block sees it, behind loops that lanes may have left at different turns. */
  readonly at: (value: Value, block: number) => Form;
  readonly lanesOf: (block: number) => Lanes;
  /** Whether the lanes of a block do not depend on arithmetic that may wrap around. */
  readonly isSure: (block: number) => boolean;
  /** Whether those lanes execute the block exactly once. */
  readonly isOnce: (block: number) => boolean;
}

export interface State {
  readonly all: Prepared;
  readonly warp: Warp;
  readonly forms: (Form | undefined)[];
  readonly unknowns: Map<string, Unknown>;
  readonly lanes: (Lanes | undefined)[];
  /** By block: whether its lanes are certain. */
  readonly sure: Uint8Array;
  /** By block: whether it may depend on what is not known whether the warp executes it. */
  readonly open: Uint8Array;
  changed: boolean;
}

/** An unknown number by its name; those that all threads share are those of the kernel. */
export function unknownOf(state: State, key: string, make: () => Omit<Unknown, 'name'>): Unknown {
  const known = state.unknowns.get(key) ?? state.all.fixed.get(key);
  if (known) return known;
  const made = { name: key, ...make() };
  (made.isFixed ? state.all.fixed : state.unknowns).set(key, made);
  return made;
}

/** The interval of the number of the first lane. */
export function intervalAt({ all }: State, value: Value, block: number): { readonly min: number; readonly max: number } {
  const { type } = all.kernel.insts[value]!;
  if (!isInt(type)) return { min: 0, max: 2 ** 48 };
  const { min, max } = all.ranges.at(value, block);
  return { min: Number(min), max: Number(max) };
}

/** The form of a value as a block sees it. */
export function seenFrom(state: State, value: Value, block: number): Form {
  const form = state.forms[value] ?? opaque('other');
  if (form.kind === 'opaque' || !state.all.uniformity.leavesUnequally(value, block)) return form;
  const isFixed = form.kind === 'linear' && [...form.terms.keys()].every((unknown) => unknown.isFixed);
  return isFixed || (form.kind === 'truth' && !form.lanes.includes(-1)) ? form : opaque('other');
}
