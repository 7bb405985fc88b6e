/** Advice on control flow: branches at which warps diverge, and loops that do not end. */
import { edgesOf, influenceOf, type Loop, operandsOf, specOf, type Value } from '../ir/index.ts';
import { activeOf } from './requests.ts';
import type { Prepared, WarpForms } from './state.ts';

/** A branch that depends on the lane, or on what was loaded. */
export interface AdvisedBranch {
  readonly block: number;
  /** The condition. */
  readonly value: Value;
  /** Whether warps are known to diverge, known not to, or neither. */
  readonly diverges: boolean | undefined;
  /** The warps that diverge, of those that are known. */
  readonly warps: { readonly diverging: number; readonly of: number };
  /** The mean part of lanes that are idle while a diverging warp executes both sides, by instructions; undefined where lanes are not known. */
  readonly idle: number | undefined;
  /** Instructions of each side up to the place where both meet. */
  readonly sides: readonly [number, number];
}

/** The branches whose condition may differ between the lanes of a warp. */
export function branchesOf(all: Prepared, warps: readonly WarpForms[]): AdvisedBranch[] {
  const { kernel, uniformity, cfg } = all;
  return cfg.order.flatMap((id) => {
    const { end } = kernel.blocks[id]!;
    return end.op === 'condbr' && uniformity.branch[id] === 2 ? [branchOf(all, warps, id, end.cond)] : [];
  });
}

function branchOf(all: Prepared, warps: readonly WarpForms[], block: number, value: Value): AdvisedBranch {
  const sides = sidesOf(all, block);
  let [known, diverging, idle] = [0, 0, 0];
  let isOpen = false;
  for (const warp of warps) {
    const lanes = warp.lanesOf(block);
    if (lanes === 'none') continue;
    const cond = warp.at(value, block);
    const active = lanes === 'some' ? undefined : activeOf(lanes, warp.warp.width);
    if (
      cond.kind === 'truth' &&
      (cond.isUniform || !(active ?? cond.lanes.map((_, lane) => lane)).some((lane) => cond.lanes[lane] === -1)) &&
      active
    ) {
      known++;
      const taken = active.filter((lane) => cond.lanes[lane] === 1).length;
      if (cond.lanes.includes(-1) || taken === 0 || taken === active.length) continue;
      diverging++;
      idle += idleOf(sides, taken / active.length);
    } else isOpen = true;
  }
  return {
    block,
    value,
    diverges: diverging > 0 ? true : isOpen ? undefined : false,
    warps: { diverging, of: known },
    idle: diverging > 0 ? idle / diverging : undefined,
    sides,
  };
}

/** The part of lanes that wait, where a part of them takes the first side. */
function idleOf([first, second]: readonly [number, number], part: number): number {
  const all = first + second;
  return all === 0 ? 0 : (first * (1 - part) + second * part) / all;
}

/** The instructions of the source behind each side of a branch up to where both meet. */
function sidesOf({ kernel, cfg, post }: Prepared, block: number): [number, number] {
  const { region } = influenceOf(cfg, block, post.parent[block]!);
  const [first, second] = cfg.successors[block]!.map((start) => reachIn(cfg.successors, start, region, block));
  const count = (own: ReadonlySet<number>, other: ReadonlySet<number>): number =>
    [...own].filter((id) => !other.has(id)).reduce((sum, id) => sum + countOf(kernel.blocks[id]!.body, kernel), 0);
  return [count(first!, second!), count(second!, first!)];
}

function reachIn(edges: readonly (readonly number[])[], start: number, region: ReadonlySet<number>, stop: number): Set<number> {
  const seen = new Set<number>();
  const stack = region.has(start) ? [start] : [];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (seen.has(node) || node === stop) continue;
    seen.add(node);
    for (const to of edges[node]!) if (region.has(to)) stack.push(to);
  }
  return seen;
}

/** Instructions of the source, which `mark` counts. */
const countOf = (body: readonly Value[], kernel: Prepared['kernel']): number =>
  body.filter((value) => kernel.insts[value]!.op === 'mark').length;

// ── loops ──

/** A loop that never ends once a thread is in it, or that waits for a plain load to change. */
export interface AdvisedLoop {
  readonly kind: 'endless' | 'spin';
  readonly header: number;
  /** The condition of its exit, or the load; undefined for a loop without an exit. */
  readonly value: Value | undefined;
  /** Whether only some threads of a warp may be in it. */
  readonly isDivergent: boolean;
}

/** The loops of a kernel that do not end by what they compute. */
export function loopsWithoutEnd(all: Prepared, warps: readonly WarpForms[]): AdvisedLoop[] {
  return all.loops.loops.flatMap((loop) => {
    if (warps.every((warp) => warp.lanesOf(loop.header) === 'none')) return [];
    const found = judgeLoop(all, loop, warps);
    return found ? [{ ...found, header: loop.header, isDivergent: all.uniformity.divergence[loop.header] === 2 }] : [];
  });
}

/** A branch out of a loop: its condition, and the truth with which threads stay. */
interface Exit {
  readonly block: number;
  readonly cond: Value;
  readonly stays: 0 | 1;
}

function judgeLoop(all: Prepared, loop: Loop, warps: readonly WarpForms[]): Pick<AdvisedLoop, 'kind' | 'value'> | undefined {
  const { kernel } = all;
  const inside = new Set(loop.blocks);
  const exits: Exit[] = [];
  for (const id of loop.blocks) {
    const { end } = kernel.blocks[id]!;
    if (end.op === 'ret') return undefined;
    const stays = edgesOf(end).map(({ block }) => inside.has(block.id));
    if (stays.every((each) => each)) continue;
    if (end.op !== 'condbr' || !stays.includes(true)) return undefined;
    exits.push({ block: id, cond: end.cond, stays: stays[0] ? 1 : 0 });
  }
  if (exits.length === 0) return { kind: 'endless', value: undefined };
  const sources = exits.map(({ cond }) => sourcesOf(all, inside, cond));
  if (sources.includes('changes')) return undefined;
  const loads = sources.flatMap((each) => (each === 'changes' ? [] : [...each]));
  if (exits.some((exit) => leavesAtOnce(exit, warps))) return undefined;
  if (loads.length === 0) return { kind: 'endless', value: exits[0]!.cond };
  return loads.length > 0 && isQuiet(all, loop) ? { kind: 'spin', value: loads[0] } : undefined;
}

/** Whether it is known that every thread leaves at an exit in its first turn. */
const leavesAtOnce = ({ block, cond, stays }: Exit, warps: readonly WarpForms[]): boolean =>
  warps.every((warp) => {
    const form = warp.at(cond, block);
    return form.kind === 'truth' && form.lanes.every((lane) => lane === 1 - stays);
  });

/** The plain loads of invariant addresses that a value depends on; `changes` if it depends on anything else that turns change. */
function sourcesOf({ kernel, home }: Prepared, inside: ReadonlySet<number>, value: Value): ReadonlySet<Value> | 'changes' {
  const loads = new Set<Value>();
  const seen = new Set<Value>();
  const stack = [value];
  for (let each = stack.pop(); each !== undefined; each = stack.pop()) {
    if (seen.has(each) || !inside.has(home[each]!)) continue;
    seen.add(each);
    const inst = kernel.insts[each]!;
    const isPlainLoad = inst.op === 'load' && !inst.volatile;
    if (!isPlainLoad && (inst.op === 'arg' || specOf(inst.op).effect !== 'pure')) return 'changes';
    if (isPlainLoad) loads.add(each);
    stack.push(...operandsOf(inst));
  }
  return loads;
}

/** Whether a loop neither writes memory nor waits for other threads. */
const isQuiet = ({ kernel }: Prepared, { blocks }: Loop): boolean =>
  blocks.every((id) =>
    kernel.blocks[id]!.body.every((value) => {
      const { effect } = specOf(kernel.insts[value]!.op);
      return effect === 'pure' || effect === 'reads' || kernel.insts[value]!.op === 'mark';
    }),
  );
