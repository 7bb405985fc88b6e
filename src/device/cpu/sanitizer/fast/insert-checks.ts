/**
 * What is to be looked at while strips run, as instructions of the kernel: a `guard` before each access, and `within` for the numbers that its
 * address is made of. The look is a quick one: it may take for a fault what is none, and then the launch is watched lane by lane, but
 * nothing that the watch would report gets past it.
 */

import { windowsOf } from '../../../../engine/codegen/plan.ts';
import { waitsForOthers } from '../../../../engine/simd/analysis/spin-loops.ts';
import {
  accessOf,
  addInst,
  type Block,
  bytesOf,
  cfgOf,
  dominatorsOf,
  elementOf,
  type Inst,
  isPointer,
  type Kernel,
  lanesOf,
  loopsOf,
  type PointerType,
  rootsOf,
  spaceOf,
  type Value,
} from '../../../../ir/index.ts';
import type { SanitizeKind } from '../../../device.ts';
import type { Bounds } from '../../observe/sites.ts';
import { boundsOf, boundsOfRoot } from '../precise/bounds.ts';
import { readsBeforeAtomics } from '../precise/reads-before-atomics.ts';
import { type AddressRanges, addressRanges } from './address-range.ts';

export type GuardedSpace = 'global' | 'shared' | 'constant' | 'local';

/** What accesses may reach. */
export interface Reached {
  readonly bounds: Bounds;
  readonly space: GuardedSpace;
  /** Of what stands at the same place of its window in each launch: the bytes from the start of the window, and how many. */
  readonly fixed: { readonly offset: number; readonly size: number } | undefined;
  /** Whether something is written there. */
  isWritten: boolean;
}

/** What is looked at before an access; `near`: only that an address is not far from what it may reach. */
export interface Guard {
  readonly what: 'load' | 'store' | 'atomic' | 'near';
  readonly reached: number;
  readonly space: GuardedSpace;
  /** Bytes that one thread accesses, and what the address has to be a multiple of. */
  readonly bytes: number;
  readonly align: number;
}

export interface Guards {
  readonly kinds: ReadonlySet<SanitizeKind>;
  readonly reached: readonly Reached[];
  readonly list: readonly Guard[];
  /** Bytes that share a cell of the shadow, as a shift: no write is of fewer. */
  readonly grains: Readonly<Record<GuardedSpace, number>>;
  /** Whether threads may wait in a loop for what others write, which strips may never come to. */
  readonly mayWait: boolean;
  /** Bytes of local memory that a thread had when offsets in it were told. */
  readonly local: number;
}

/** Bytes that an address may be from its root: less than half of all, less what variables are apart. */
const reachBytes = 2n ** 31n - 2n ** 24n;

interface State {
  readonly kernel: Kernel;
  readonly windows: ReturnType<typeof windowsOf>;
  readonly roots: ReturnType<typeof rootsOf>;
  readonly ranges: AddressRanges;
  readonly excused: ReadonlySet<Value>;
  readonly reached: Reached[];
  readonly list: Guard[];
  readonly grains: Record<GuardedSpace, number>;
  /** By value: guards that come before it. */
  readonly before: Map<Value, number>;
}

/** Puts guards into a kernel; or why it cannot be looked at quickly. */
export function insertGuards(kernel: Kernel, kinds: ReadonlySet<SanitizeKind>): Guards | { readonly why: string } {
  const why = whyNot(kernel, kinds);
  if (why !== undefined) return { why };
  const roots = rootsOf(kernel);
  const state: State = {
    kernel,
    windows: windowsOf(kernel),
    roots,
    ranges: addressRanges(kernel, roots),
    excused: readsBeforeAtomics(kernel),
    reached: [],
    list: [],
    grains: { global: 2, shared: 2, constant: 2, local: 2 },
    before: new Map(),
  };
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const found = guardAccess(state, value);
      if (found !== undefined) return { why: found };
    }
  const nears = nearsOf(state);
  if (!nears) return { why: 'an address of several variables that goes around in a loop' };
  const mayWait = waitsAnywhere(state);
  place(state, nears);
  return { kinds, reached: state.reached, list: state.list, grains: state.grains, mayWait, local: state.windows.windows.local };
}

function whyNot({ params, blocks, insts }: Kernel, kinds: ReadonlySet<SanitizeKind>): string | undefined {
  if (kinds.has('writer')) return 'who writes is asked for';
  if (params.some(({ faults, formats }) => faults || formats)) return 'it stops itself or prints';
  for (const { body } of blocks)
    for (const [at, value] of body.entries()) {
      const inst = insts[value]!;
      if (inst.op !== 'members') continue;
      const mask = insts[inst.a]!;
      if (mask.op !== 'const' || BigInt.asIntN(32, mask.bits) !== -1n) return 'a mask that does not name all lanes';
      // The warp meets in the same block, so that those who come to the mask come to the meeting.
      if (!body.slice(at).some((each) => meets(insts[each]!))) return 'a mask and no meeting behind it';
    }
  return undefined;
}

const meets = ({ op }: Inst): boolean => op === 'shuffle' || op === 'ballot' || op === 'reduce' || op === 'syncwarp';

// ── accesses ──

/** Notes the guard of an access; why that cannot be. */
function guardAccess(state: State, value: Value): string | undefined {
  const { kernel, roots, windows } = state;
  const inst = kernel.insts[value]!;
  const access = accessOf(kernel, inst);
  if (!access) return undefined;
  const type = inst.op === 'store' ? kernel.insts[inst.value]!.type : inst.type;
  const space = spaceOf(kernel.insts[access.addr]!.type as PointerType) as GuardedSpace;
  const bounds = boundsOf({ kernel, roots, windows: windows.windows }, access.addr, value);
  if (!bounds) return 'an address that comes from no parameter and no variable';
  const bytes = bytesOf(elementOf(type)) * lanesOf(type);
  const given = inst.op === 'load' || inst.op === 'store' ? inst.align : bytes;
  const what = inst.op === 'atomic' || inst.op === 'cas' || isStrong(state, inst, value) ? 'atomic' : (inst.op as 'load' | 'store');
  const align = Math.min(given, bytes);
  const isRaced = space === 'global' || space === 'shared';
  if (isRaced && align < Math.min(bytes, 4)) return 'accesses at any address';
  if (access.writes) state.grains[space] = Math.min(state.grains[space], Math.log2(bytes));
  const guard = { what, space, bytes, align, reached: reachedAt(state, bounds, space) } as const;
  if (access.writes) state.reached[guard.reached]!.isWritten = true;
  if (isKnown(state, access.addr, guard)) return undefined;
  if (!state.ranges.reach(access.addr, reachBytes)) return 'an address that is worked out in a way of its own';
  state.before.set(value, state.list.push(guard) - 1);
  return undefined;
}

/** What races no more than atomics do. */
const isStrong = ({ excused }: State, inst: Inst, value: Value): boolean =>
  ((inst.op === 'load' || inst.op === 'store') && inst.volatile) || excused.has(value);

/** The number of what an access may reach. */
function reachedAt(
  { reached, windows, kernel }: Pick<State, 'reached' | 'windows' | 'kernel'>,
  bounds: Bounds,
  space: GuardedSpace,
): number {
  const key = JSON.stringify(bounds) + space;
  const known = reached.findIndex((each) => JSON.stringify(each.bounds) + each.space === key);
  return known >= 0 ? known : reached.push({ bounds, space, fixed: fixedAt(kernel, windows, bounds), isWritten: false }) - 1;
}

function fixedAt(kernel: Kernel, { offsets, windows }: State['windows'], bounds: Bounds): Reached['fixed'] {
  if (bounds.kind === 'part') return { offset: bounds.offset, size: bounds.size };
  if (bounds.kind === 'window') return bounds.space === 'local' ? { offset: 0, size: windows.local } : undefined;
  if (bounds.kind === 'param') return undefined;
  const variable = kernel.variables.find(({ name }) => name === bounds.name)!;
  return variable.isDynamic ? undefined : { offset: offsets.get(bounds.name)!, size: variable.size };
}

/** Whether an access is right whatever happens: of memory that is each thread's own, or nobody's to write, at a place that is known. */
function isKnown({ kernel, reached, windows }: State, pointer: Value, guard: Guard): boolean {
  if (guard.space !== 'local' && guard.space !== 'constant') return false;
  const { bounds, fixed } = reached[guard.reached]!;
  let offset = 0n;
  let at = kernel.insts[pointer]!;
  for (; at.op === 'ptradd'; at = kernel.insts[at.a]!) {
    const by = kernel.insts[at.b]!;
    if (by.op !== 'const') return false;
    offset += BigInt.asIntN(64, by.bits);
  }
  const isHeld = (from: number, size: number): boolean =>
    offset >= BigInt(from) && offset + BigInt(guard.bytes) <= BigInt(from + size) && offset % BigInt(guard.align) === 0n;
  if (at.op === 'param' && bounds.kind === 'param')
    return kernel.params[at.index]!.kind === 'value' && isHeld(0, kernel.params[at.index]!.size);
  if (at.op !== 'variable' || !fixed) return false;
  offset += BigInt(windows.offsets.get(at.name)!);
  return isHeld(fixed.offset, fixed.size);
}

/** Whether a loop goes on by what it reads of memory that the kernel writes, however it reads it. */
function waitsAnywhere({ kernel, before, list, reached }: State): boolean {
  const isSource = (_: Inst, value: Value): boolean => {
    const guard = list[before.get(value) ?? -1];
    return guard !== undefined && reached[guard.reached]!.isWritten;
  };
  const cfg = cfgOf(kernel);
  return loopsOf(cfg, dominatorsOf(cfg)).loops.some((loop) => waitsForOthers(kernel, loop, isSource));
}

// ── places ──

/** Guards of addresses that come around in loops; nothing where one has no root. */
function nearsOf({ kernel, roots, ranges, list, reached, windows }: State): Map<Value, number> | undefined {
  const nears = new Map<Value, number>();
  for (const value of ranges.nears) {
    const root = roots(value);
    const { type } = kernel.insts[root ?? value]!;
    const space = isPointer(type) ? (spaceOf(type) as GuardedSpace) : undefined;
    const bounds = space && boundsOfRoot({ kernel }, root, space);
    if (!space || !bounds) return undefined;
    const at = reachedAt({ reached, windows, kernel }, bounds, space);
    nears.set(value, list.push({ what: 'near', space, bytes: 0, align: 1, reached: at }) - 1);
  }
  return nears;
}

function place({ kernel, ranges, before, list }: State, nears: ReadonlyMap<Value, number>): void {
  const guard = (a: Value, number: number): Value => addInst(kernel, { op: 'guard', type: 'void', a, number });
  const within = (a: Value): Value[] => {
    const asked = ranges.numbers.get(a);
    if (!asked) return [];
    return [addInst(kernel, { op: 'within', type: 'void', a, ...asked, limit: Number(asked.limit) })];
  };
  /** A number is an address by way of a pointer. */
  const nearBy = (value: Value, number: number): Value[] => {
    if (isPointer(kernel.insts[value]!.type)) return [guard(value, number)];
    const pointer = addInst(kernel, { op: 'inttoptr', type: `ptr.${list[number]!.space}`, a: value });
    return [pointer, guard(pointer, number)];
  };
  const behind = (value: Value): Value[] => {
    const near = nears.get(value);
    return [...within(value), ...(near === undefined ? [] : nearBy(value, near))];
  };
  const bodyOf = ({ params, body }: Block): Value[] => [
    ...params.flatMap(behind),
    ...body.flatMap((value) => {
      const access = accessOf(kernel, kernel.insts[value]!);
      const number = before.get(value);
      return [...(access && number !== undefined ? [guard(access.addr, number)] : []), value, ...behind(value)];
    }),
  ];
  for (const block of kernel.blocks) block.body = bodyOf(block);
}
