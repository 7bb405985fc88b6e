/**
 * Inserts the checks of the fast sanitizer into a kernel: a `guard` before each access, and a `within` for each number that an address is
 * computed from. The checks are speculative. They may fail without a fault, and the launch then falls back to the precise sanitizer; they never
 * pass where the precise sanitizer would report something.
 */
import { windowsOf } from '../../../../engine/codegen/plan.ts';
import {
  accessOf,
  addInst,
  type Block,
  bytesOf,
  cfgOf,
  dominatorsOf,
  elementOf,
  hasMasks,
  type Inst,
  isPointer,
  isSpinLoop,
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

export type CheckedSpace = 'global' | 'shared' | 'constant' | 'local';

/** The memory that an access may reach: a buffer, a variable, or a window. */
export interface Target {
  readonly bounds: Bounds;
  readonly space: CheckedSpace;
  /** Offset and size in the window, in bytes, of memory that is at the same place of its window in each launch. */
  readonly fixed: { readonly offset: number; readonly size: number } | undefined;
  /** Whether the kernel writes to it. */
  isWritten: boolean;
}

/** The check of an access. `near` checks only that an address is not far from its target. */
export interface AccessCheck {
  readonly what: 'load' | 'store' | 'atomic' | 'near';
  /** The target by its number. */
  readonly target: number;
  readonly space: CheckedSpace;
  /** Bytes that one thread accesses, and the alignment that the address must have. */
  readonly bytes: number;
  readonly align: number;
}

export interface AccessChecks {
  readonly kinds: ReadonlySet<SanitizeKind>;
  readonly targets: readonly Target[];
  readonly list: readonly AccessCheck[];
  /** Bytes that share a cell of the shadow, as a shift: those of the smallest write. */
  readonly grains: Readonly<Record<CheckedSpace, number>>;
  /** Whether threads may wait in a loop for writes of others, which may be in the same lane group. */
  readonly mayWait: boolean;
  /** Bytes of local memory of a thread, which `fixed` offsets are based on. */
  readonly local: number;
}

/** Bytes that an address may be from its root: less than half of the 32-bit range, minus the distance of variables. */
const reachBytes = 2n ** 31n - 2n ** 24n;

interface State {
  readonly kernel: Kernel;
  readonly windows: ReturnType<typeof windowsOf>;
  readonly roots: ReturnType<typeof rootsOf>;
  readonly ranges: AddressRanges;
  readonly excused: ReadonlySet<Value>;
  readonly targets: Target[];
  readonly list: AccessCheck[];
  readonly grains: Record<CheckedSpace, number>;
  /** The number of the check before each access. */
  readonly before: Map<Value, number>;
}

/** Inserts checks into a kernel; otherwise the reason why the kernel cannot have them. */
export function insertChecks(kernel: Kernel, kinds: ReadonlySet<SanitizeKind>): AccessChecks | { readonly why: string } {
  const why = unsupported(kernel, kinds);
  if (why !== undefined) return { why };
  const roots = rootsOf(kernel);
  const state: State = {
    kernel,
    windows: windowsOf(kernel),
    roots,
    ranges: addressRanges(kernel, roots),
    excused: readsBeforeAtomics(kernel),
    targets: [],
    list: [],
    grains: { global: 2, shared: 2, constant: 2, local: 2 },
    before: new Map(),
  };
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const found = checkAccess(state, value);
      if (found !== undefined) return { why: found };
    }
  const nears = nearsOf(state);
  if (!nears) return { why: 'an address of several variables that is carried around a loop' };
  const mayWait = waitsAnywhere(state);
  place(state, nears);
  return { kinds, targets: state.targets, list: state.list, grains: state.grains, mayWait, local: state.windows.windows.local };
}

function unsupported(kernel: Kernel, kinds: ReadonlySet<SanitizeKind>): string | undefined {
  const { params, blocks, insts } = kernel;
  if (hasMasks(kernel)) return 'collectives by masks in divergent code';
  if (kinds.has('writer')) return 'a query of the last writer';
  if (params.some(({ faults, formats }) => faults || formats)) return 'a kernel that stops itself or prints';
  if (params.some(({ locks }) => locks)) return 'a kernel with a lock table';
  for (const { body } of blocks)
    for (const [at, value] of body.entries()) {
      const inst = insts[value]!;
      if (inst.op !== 'members') continue;
      const mask = insts[inst.a]!;
      if (mask.op !== 'const' || BigInt.asIntN(32, mask.bits) !== -1n) return 'a mask that does not name all lanes';
      // The collective is in the same block, so that all lanes that name the mask reach it.
      if (!body.slice(at).some((each) => isCollective(insts[each]!))) return 'a mask without a collective behind it';
    }
  return undefined;
}

const isCollective = ({ op }: Inst): boolean => op === 'shuffle' || op === 'ballot' || op === 'reduce' || op === 'syncwarp';

// ── accesses ──

/** Adds the check of an access; returns the reason if that is impossible. */
function checkAccess(state: State, value: Value): string | undefined {
  const { kernel, roots, windows } = state;
  const inst = kernel.insts[value]!;
  const access = accessOf(kernel, inst);
  if (!access) return undefined;
  const type = inst.op === 'store' ? kernel.insts[inst.value]!.type : inst.type;
  const space = spaceOf(kernel.insts[access.addr]!.type as PointerType) as CheckedSpace;
  const bounds = boundsOf({ kernel, roots, windows: windows.windows }, access.addr, value);
  if (!bounds) return 'an address without parameter or variable';
  const bytes = bytesOf(elementOf(type)) * lanesOf(type);
  const given = inst.op === 'load' || inst.op === 'store' ? inst.align : bytes;
  const what = inst.op === 'atomic' || inst.op === 'cas' || isStrong(state, inst, value) ? 'atomic' : (inst.op as 'load' | 'store');
  const align = Math.min(given, bytes);
  const isRaced = space === 'global' || space === 'shared';
  if (isRaced && align < Math.min(bytes, 4)) return 'accesses with too little alignment';
  if (access.writes) state.grains[space] = Math.min(state.grains[space], Math.log2(bytes));
  const check = { what, space, bytes, align, target: targetOf(state, bounds, space) } as const;
  if (access.writes) state.targets[check.target]!.isWritten = true;
  if (isKnown(state, access.addr, check)) return undefined;
  if (!state.ranges.reach(access.addr, reachBytes)) return 'an address without a known range';
  state.before.set(value, state.list.push(check) - 1);
  return undefined;
}

/** Whether an access counts as atomic for races. */
const isStrong = ({ excused }: State, inst: Inst, value: Value): boolean =>
  ((inst.op === 'load' || inst.op === 'store') && inst.volatile) || excused.has(value);

/** The number of a target, which is added if it is new. */
function targetOf(
  { targets, windows, kernel }: Pick<State, 'targets' | 'windows' | 'kernel'>,
  bounds: Bounds,
  space: CheckedSpace,
): number {
  const key = JSON.stringify(bounds) + space;
  const known = targets.findIndex((each) => JSON.stringify(each.bounds) + each.space === key);
  return known >= 0 ? known : targets.push({ bounds, space, fixed: fixedAt(kernel, windows, bounds), isWritten: false }) - 1;
}

function fixedAt(kernel: Kernel, { offsets, windows }: State['windows'], bounds: Bounds): Target['fixed'] {
  if (bounds.kind === 'part') return { offset: bounds.offset, size: bounds.size };
  if (bounds.kind === 'window') return bounds.space === 'local' ? { offset: 0, size: windows.local } : undefined;
  if (bounds.kind === 'param') return undefined;
  const variable = kernel.variables.find(({ name }) => name === bounds.name)!;
  return variable.isDynamic ? undefined : { offset: offsets.get(bounds.name)!, size: variable.size };
}

/** Whether an access needs no check: it is to local or constant memory, at a constant offset within its target. */
function isKnown({ kernel, targets, windows }: State, pointer: Value, check: AccessCheck): boolean {
  if (check.space !== 'local' && check.space !== 'constant') return false;
  const { bounds, fixed } = targets[check.target]!;
  let offset = 0n;
  let at = kernel.insts[pointer]!;
  for (; at.op === 'ptradd'; at = kernel.insts[at.a]!) {
    const by = kernel.insts[at.b]!;
    if (by.op !== 'const') return false;
    offset += BigInt.asIntN(64, by.bits);
  }
  const isHeld = (from: number, size: number): boolean =>
    offset >= BigInt(from) && offset + BigInt(check.bytes) <= BigInt(from + size) && offset % BigInt(check.align) === 0n;
  if (at.op === 'param' && bounds.kind === 'param')
    return kernel.params[at.index]!.kind === 'value' && isHeld(0, kernel.params[at.index]!.size);
  if (at.op !== 'variable' || !fixed) return false;
  offset += BigInt(windows.offsets.get(at.name)!);
  return isHeld(fixed.offset, fixed.size);
}

/** Whether the exit of a loop depends on loads from memory that the kernel writes, of any kind. */
function waitsAnywhere({ kernel, before, list, targets }: State): boolean {
  const isSource = (_: Inst, value: Value): boolean => {
    const check = list[before.get(value) ?? -1];
    return check !== undefined && targets[check.target]!.isWritten;
  };
  const cfg = cfgOf(kernel);
  return loopsOf(cfg, dominatorsOf(cfg)).loops.some((loop) => isSpinLoop(kernel, loop, isSource));
}

// ── insertion ──

/** AccessChecks of addresses that come around in loops; nothing where one has no root. */
function nearsOf({ kernel, roots, ranges, list, targets, windows }: State): Map<Value, number> | undefined {
  const nears = new Map<Value, number>();
  for (const value of ranges.nears) {
    const root = roots(value);
    const { type } = kernel.insts[root ?? value]!;
    const space = isPointer(type) ? (spaceOf(type) as CheckedSpace) : undefined;
    const bounds = space && boundsOfRoot({ kernel }, root, space);
    if (!space || !bounds) return undefined;
    const at = targetOf({ targets, windows, kernel }, bounds, space);
    nears.set(value, list.push({ what: 'near', space, bytes: 0, align: 1, target: at }) - 1);
  }
  return nears;
}

function place({ kernel, ranges, before, list }: State, nears: ReadonlyMap<Value, number>): void {
  const check = (a: Value, number: number): Value => addInst(kernel, { op: 'guard', type: 'void', a, number });
  const within = (a: Value): Value[] => {
    const asked = ranges.numbers.get(a);
    if (!asked) return [];
    return [addInst(kernel, { op: 'within', type: 'void', a, ...asked, limit: Number(asked.limit) })];
  };
  /** An integer that holds an address becomes a pointer first. */
  const nearBy = (value: Value, number: number): Value[] => {
    if (isPointer(kernel.insts[value]!.type)) return [check(value, number)];
    const pointer = addInst(kernel, { op: 'inttoptr', type: `ptr.${list[number]!.space}`, a: value });
    return [pointer, check(pointer, number)];
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
      return [...(access && number !== undefined ? [check(access.addr, number)] : []), value, ...behind(value)];
    }),
  ];
  for (const block of kernel.blocks) block.body = bodyOf(block);
}
