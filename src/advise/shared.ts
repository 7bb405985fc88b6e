/** Advice on shared memory: what is read before it is written, and what threads of different warps access at the same time. */
import { addressOf, type Inst, rootsOf, specOf, type Value } from '../ir/index.ts';
import type { AdvisedAccess } from './accesses.ts';
import { isConcrete, isUniform, type Linear, sameForm, sameTerms } from './forms.ts';
import { activeOf } from './requests.ts';
import type { Prepared, WarpForms } from './state.ts';

// ── reads before writes ──

/** The loads of shared variables that no write precedes on any path, with the name of the variable. */
export function unwrittenReads(
  all: Prepared,
  accesses: readonly AdvisedAccess[],
): { readonly access: AdvisedAccess; readonly name: string }[] {
  const { kernel, cfg } = all;
  const shared = accesses.filter(({ space }) => space === 'shared');
  if (shared.length === 0 || hasForeignWriter(all)) return [];
  const roots = rootsOf(kernel);
  const nameOf = (access: AdvisedAccess): string | undefined => {
    const root = roots(addressOf(kernel.insts[access.value]!)!);
    const inst = root === undefined ? undefined : kernel.insts[root]!;
    return inst?.op === 'variable' ? inst.name : inst?.op === 'param' ? kernel.params[inst.index]!.name : undefined;
  };
  const named = shared.map((access) => ({ access, name: nameOf(access) }));
  if (named.some(({ access, name }) => name === undefined && access.kind !== 'load')) return [];
  const written = writtenBefore(cfg.order, cfg.predecessors, named);
  return named.flatMap(({ access, name }) => {
    if (access.kind !== 'load' || name === undefined) return [];
    const before = named.some(
      (other) =>
        other.name === name && other.access.kind !== 'load' && other.access.block === access.block && isBefore(all, other.access, access),
    );
    return before || written.get(access.block)?.has(name) ? [] : [{ access, name }];
  });
}

/** Whether something besides stores and atomics may write shared memory. */
const hasForeignWriter = ({ kernel }: Prepared): boolean => kernel.params.some(({ service }) => service !== undefined);

const isBefore = ({ kernel }: Prepared, a: AdvisedAccess, b: AdvisedAccess): boolean => {
  const { body } = kernel.blocks[a.block]!;
  return body.indexOf(a.value) < body.indexOf(b.value);
};

/** By block: the variables that some path to its start writes. */
function writtenBefore(
  order: readonly number[],
  predecessors: readonly (readonly number[])[],
  named: readonly { readonly access: AdvisedAccess; readonly name: string | undefined }[],
): Map<number, Set<string>> {
  const own = new Map<number, Set<string>>(order.map((id) => [id, new Set()]));
  for (const { access, name } of named) if (access.kind !== 'load' && name !== undefined) own.get(access.block)?.add(name);
  const found = new Map<number, Set<string>>(order.map((id) => [id, new Set()]));
  for (let changed = true; changed; ) {
    changed = false;
    for (const id of order) {
      const into = found.get(id)!;
      const { size } = into;
      for (const from of predecessors[id]!) for (const name of [...(found.get(from) ?? []), ...(own.get(from) ?? [])]) into.add(name);
      changed ||= into.size > size;
    }
  }
  return found;
}

// ── races ──

/** Two accesses of threads of different warps to the same bytes, between which no barrier is. */
export interface AdvisedRace {
  readonly first: AdvisedAccess;
  readonly second: AdvisedAccess;
  /** Threads of the block that access the same byte. */
  readonly threads: readonly [number, number];
  /** Whether the second access is of the turn of a loop before that of the first. */
  readonly isAcrossTurns: boolean;
}

/** The most accesses of a kernel that are compared with each other. */
const maxAccesses = 200;

/** The races that the addresses prove; at most one for each pair of places. */
export function racesOf(all: Prepared, warps: readonly WarpForms[], accesses: readonly AdvisedAccess[]): AdvisedRace[] {
  if (warps.length < 2 || !all.launch.block) return [];
  const plain = accesses.filter(
    ({ space, kind, value }) => space === 'shared' && kind !== 'atomic' && !isVolatile(all.kernel.insts[value]!),
  );
  const certain = plain.flatMap((access) => {
    const bytes = bytesOf(all, warps, access);
    return bytes ? [{ access, bytes }] : [];
  });
  const found: AdvisedRace[] = [];
  for (const { access: first, bytes: firsts } of certain.slice(0, maxAccesses))
    for (const { access: second, bytes: seconds } of certain.slice(0, maxAccesses)) {
      if (first === second || (first.kind === 'load' && second.kind === 'load')) continue;
      const path = pathBetween(all, warps, first, second);
      const threads = path && meetingOf({ bytes: firsts, size: first.size }, { bytes: seconds, size: second.size });
      if (!path || !threads || writeAlike(all, warps, first, second)) continue;
      found.push({ first, second, threads, isAcrossTurns: path === 'turns' });
    }
  return found;
}

const isVolatile = (inst: Inst): boolean => 'volatile' in inst && inst.volatile === true;

/** Whether two stores write the same number. */
function writeAlike({ kernel }: Prepared, warps: readonly WarpForms[], a: AdvisedAccess, b: AdvisedAccess): boolean {
  const storedBy = ({ value }: AdvisedAccess): Value | undefined => {
    const inst = kernel.insts[value]!;
    return inst.op === 'store' ? inst.value : undefined;
  };
  const [x, y] = [storedBy(a), storedBy(b)];
  if (x === undefined || y === undefined) return false;
  const isConstant = (value: Value): boolean => kernel.insts[value]!.op === 'const';
  if (isConstant(x) && isConstant(y)) return sameBits(kernel.insts[x]!, kernel.insts[y]!);
  return warps.every((warp) => isUniform(warp.of(x)) && isConcrete(warp.of(x)) && sameForm(warp.of(x), warp.of(y)));
}

const sameBits = (a: Inst, b: Inst): boolean => a.op === 'const' && b.op === 'const' && a.bits === b.bits;

/** Operations that may order threads of a block. */
function orders(inst: Inst): boolean {
  const { effect } = specOf(inst.op);
  if (inst.op === 'store' || inst.op === 'load') return isVolatile(inst);
  return effect === 'barrier' || effect === 'writes' || inst.op === 'yield';
}

/** How the second access follows the first without anything that orders threads; undefined if it does not, or not on every path. */
function pathBetween(
  all: Prepared,
  warps: readonly WarpForms[],
  first: AdvisedAccess,
  second: AdvisedAccess,
): 'straight' | 'turns' | undefined {
  const { dominators, loops } = all;
  if (first.block === second.block) {
    if (isBefore(all, first, second)) return isFree(all, between(all, first, second)) ? 'straight' : undefined;
  } else if (dominators.dominates(first.block, second.block)) {
    const middle = forwardBetween(all, first.block, second.block);
    if (!middle) return undefined;
    return isFree(all, [...behind(all, first), ...middle.flatMap((id) => all.kernel.blocks[id]!.body), ...before(all, second)])
      ? 'straight'
      : undefined;
  }
  if (first.block !== second.block && !dominators.dominates(second.block, first.block))
    return areInOnePhase(all, warps, first, second) ? 'straight' : undefined;
  const loop = loops.innermost[first.block]!;
  if (
    loop < 0 ||
    loop !== loops.innermost[second.block] ||
    !(second.block === first.block || dominators.dominates(second.block, first.block))
  )
    return undefined;
  // The first access is the later one of a turn, and the second one that of the next turn.
  const { header, latches } = loops.loops[loop]!;
  const toLatch = latches.map((latch) => (latch === first.block ? [] : [...(forwardBetween(all, first.block, latch) ?? []), latch]));
  const fromHeader = header === second.block ? [] : [header, ...(forwardBetween(all, header, second.block) ?? [])];
  const blocks = [...toLatch.flat(), ...fromHeader];
  if (!latches.every((latch) => dominators.dominates(first.block, latch))) return undefined;
  return isFree(all, [...behind(all, first), ...blocks.flatMap((id) => all.kernel.blocks[id]!.body), ...before(all, second)])
    ? 'turns'
    : undefined;
}

/** Whether nothing orders threads between the place behind which two accesses are on different ways and either of them, and both are executed. */
function areInOnePhase(all: Prepared, warps: readonly WarpForms[], first: AdvisedAccess, second: AdvisedAccess): boolean {
  const { dominators, kernel } = all;
  let above = first.block;
  while (above >= 0 && !dominators.dominates(above, second.block)) above = dominators.parent[above]!;
  if (above < 0) return false;
  const isExecuted = ({ block }: AdvisedAccess): boolean => warps.every((warp) => warp.lanesOf(block) === 'none' || warp.isOnce(block));
  if (!isExecuted(first) || !isExecuted(second)) return false;
  return [first, second].every((access) => {
    const middle = forwardBetween(all, above, access.block);
    return middle !== undefined && isFree(all, [...middle.flatMap((id) => kernel.blocks[id]!.body), ...before(all, access)]);
  });
}

const isFree = ({ kernel }: Prepared, values: readonly Value[]): boolean => !values.some((value) => orders(kernel.insts[value]!));

const bodyOf = ({ kernel }: Prepared, { block }: AdvisedAccess): Value[] => kernel.blocks[block]!.body;
const behind = (all: Prepared, access: AdvisedAccess): Value[] => bodyOf(all, access).slice(bodyOf(all, access).indexOf(access.value) + 1);
const before = (all: Prepared, access: AdvisedAccess): Value[] => bodyOf(all, access).slice(0, bodyOf(all, access).indexOf(access.value));
const between = (all: Prepared, a: AdvisedAccess, b: AdvisedAccess): Value[] => {
  const body = bodyOf(all, a);
  return body.slice(body.indexOf(a.value) + 1, body.indexOf(b.value));
};

/** The blocks on ways between two blocks that jump back nowhere, both excluded; undefined if there is no way. */
function forwardBetween({ cfg, dominators }: Prepared, from: number, to: number): number[] | undefined {
  const isForward = (a: number, b: number): boolean => !dominators.dominates(b, a);
  const reach = (start: number, next: (id: number) => readonly number[]): Set<number> => {
    const seen = new Set<number>();
    const stack = [start];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (seen.has(node)) continue;
      seen.add(node);
      stack.push(...next(node));
    }
    return seen;
  };
  const down = reach(from, (id) => cfg.successors[id]!.filter((next) => isForward(id, next)));
  if (!down.has(to)) return undefined;
  const up = reach(to, (id) => cfg.predecessors[id]!.filter((previous) => isForward(previous, id)));
  return [...down].filter((id) => id !== from && id !== to && up.has(id));
}

/** The bytes of an access by warp, and bytes of one lane. */
interface Accessed {
  readonly bytes: readonly WarpBytes[];
  readonly size: number;
}

/** Two threads of different warps that access the same byte for certain. */
function meetingOf(first: Accessed, second: Accessed): readonly [number, number] | undefined {
  if (!sameTerms(first.bytes[0]!.form.terms, second.bytes[0]!.form.terms)) return undefined;
  const byByte = new Map<number, readonly [warp: number, lane: number]>();
  for (const { warp, form, lanes } of first.bytes)
    for (const lane of lanes) for (let i = 0; i < first.size; i++) byByte.set(form.lanes[lane]! + i, [warp, lane]);
  for (const { warp, form, lanes } of second.bytes)
    for (const lane of lanes)
      for (let i = 0; i < second.size; i++) {
        const other = byByte.get(form.lanes[lane]! + i);
        if (other && other[0] !== warp) return [other[0] * 32 + other[1], warp * 32 + lane];
      }
  return undefined;
}

interface WarpBytes {
  readonly warp: number;
  readonly form: Linear;
  readonly lanes: readonly number[];
}

/** The offsets of all warps, if they are certain and the same whenever the access is executed. */
function bytesOf({ kernel }: Prepared, warps: readonly WarpForms[], { value, block }: AdvisedAccess): WarpBytes[] | undefined {
  const found: WarpBytes[] = [];
  for (const warp of warps) {
    const lanes = warp.lanesOf(block);
    if (lanes === 'none') continue;
    const form = warp.at(addressOf(kernel.insts[value]!)!, block);
    if (lanes === 'some' || form.kind !== 'linear' || !form.isSure || !warp.isSure(block)) return undefined;
    if (![...form.terms.keys()].every(({ isFixed }) => isFixed)) return undefined;
    if (found[0] && !sameTerms(found[0].form.terms, form.terms)) return undefined;
    found.push({ warp: warp.warp.index ?? 0, form, lanes: activeOf(lanes, warp.warp.width) });
  }
  return found.length > 0 ? found : undefined;
}
