/** Turns counts by basic block into counts by line. */
import { type Line, lineOf } from '../../../../air/index.ts';
import { product } from '../../../../base/dim3.ts';
import type { Block, Kernel, Value } from '../../../../ir/index.ts';
import {
  type AccessKind,
  type Executions,
  type OperationClass,
  operationClasses,
  type Profile,
  type ProfileCounts,
  type ProfileLine,
  type ProfileRequest,
} from '../../../profile.ts';
import type { ObservedLaunch } from '../../observe/observer.ts';
import { sourceLine } from '../../source-text.ts';
import { classOf, flopsOf, profiledAccess } from './classes.ts';
import { byKind, type CountedAccess, type Counts, noGlobal, noShared } from './counts.ts';

const noCounts = (): ProfileCounts => ({
  executed: { warps: 0, lanes: 0 },
  flops: { f16: 0, f32: 0, f64: 0 },
  global: byKind(noGlobal),
  shared: byKind(noShared),
  branches: { executed: 0, diverged: 0 },
});

/** Adds every number of one object to the number of the same name in the other. */
function addNumbers<T extends object>(to: T, from: T): void {
  const [into, out] = [to as Record<string, number>, from as Record<string, number>];
  for (const name of Object.keys(out)) into[name]! += out[name]!;
}

interface Tally {
  readonly kernel: Kernel;
  readonly counts: Counts;
  readonly total: ProfileCounts;
  readonly operations: Record<OperationClass, Executions>;
  /** The counts of a line. */
  at(line: Line | undefined): ProfileCounts;
}

/** The profile of a launch that has ended. */
export function profileOf(observed: ObservedLaunch, { source }: ProfileRequest, counts: Counts): Profile {
  const { kernel } = observed.compiled.instrumented!.plan;
  const lines = new Map<string, ProfileLine>();
  const at = (line: Line | undefined): ProfileCounts => {
    const key = line ? `${line.file}:${line.line}` : '';
    const known = lines.get(key);
    if (known) return known;
    const from = line && source ? sourceLine(source, line.line) : undefined;
    const made: ProfileLine = { line: line?.line ?? 0, file: line?.file ?? '', source: from, ...noCounts() };
    lines.set(key, made);
    return made;
  };
  const operations = Object.fromEntries(operationClasses.map((each) => [each, { warps: 0, lanes: 0 }]));
  const tally: Tally = { kernel, counts, total: noCounts(), operations: operations as Tally['operations'], at };
  const hasMarks = kernel.insts.some(({ op }) => op === 'mark');
  for (const block of kernel.blocks) tallyBlock(tally, block, hasMarks);
  const { kernel: name, grid, block } = observed.request;
  return {
    kernel: name,
    grid,
    block,
    warps: product(grid) * Math.ceil(product(block) / 32),
    footprint: { read: 32 * bitsIn(counts.read), written: 32 * bitsIn(counts.written) },
    total: tally.total,
    operations: tally.operations,
    lines: [...lines.values()].sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line),
  };
}

function tallyBlock(tally: Tally, block: Block, hasMarks: boolean): void {
  const { kernel, counts, total, operations } = tally;
  const executed = { warps: counts.warps[block.id]!, lanes: counts.lanes[block.id]! };
  const execute = (value: Value): void => {
    addNumbers(tally.at(lineOf(kernel.locs[value])).executed, executed);
    addNumbers(total.executed, executed);
  };
  const accesses = counts.accesses[block.id]![Symbol.iterator]();
  const seen = new Set<number>();
  for (const value of block.body) {
    const inst = kernel.insts[value]!;
    const line = lineOf(kernel.locs[value]);
    if (inst.op === 'mark') execute(value);
    // Without marks, each line of a block counts once; without lines, each operation counts.
    else if (!hasMarks && (line ? !seen.has(line.line) : classOf(kernel, inst) !== undefined)) execute(value);
    seen.add(line?.line ?? 0);
    const kind = classOf(kernel, inst);
    if (kind) addNumbers(operations[kind], executed);
    const flops = flopsOf(inst);
    for (const to of flops ? [tally.at(line), total] : []) to.flops[flops!.width] += flops!.count * executed.lanes;
    if (profiledAccess(kernel, inst)) addAccess(tally, line, accesses.next().value!);
  }
  if (block.end.op !== 'condbr') return;
  addNumbers(operations.branch, executed);
  const branches = { executed: executed.warps, diverged: counts.diverged[block.id]! };
  for (const to of [tally.at(lineOfEnd(kernel, block)), total]) addNumbers(to.branches, branches);
}

function addAccess({ at, total }: Tally, line: Line | undefined, { space, kind, global, shared }: CountedAccess): void {
  for (const to of [at(line), total])
    if (space === 'global') addNumbers(to.global[kind as AccessKind], global);
    else addNumbers(to.shared[kind as AccessKind], shared);
}

/** The line of the last instruction that starts in a block, which is the branch or a predicated instruction; otherwise that of the condition. */
function lineOfEnd(kernel: Kernel, { body, end }: Block): Line | undefined {
  const last = body.filter((value) => kernel.insts[value]!.op === 'mark').at(-1) ?? (end.op === 'condbr' ? end.cond : undefined);
  return last === undefined ? undefined : lineOf(kernel.locs[last]);
}

function bitsIn(map: Uint8Array): number {
  let count = 0;
  for (const byte of map) for (let rest = byte; rest > 0; rest &= rest - 1) count++;
  return count;
}
