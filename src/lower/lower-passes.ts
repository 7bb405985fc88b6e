/**
 * The steps of lowering one entry, in order: its body as SSA first, then the passes that know PTX. Each keeps the promises of the
 * verifier, unless code was refused.
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import { type Kernel, recoverPointers, type Value } from '../ir/index.ts';
import { type CheckedFunction, callsOf } from '../ptx/index.ts';
import { clearBarriers } from './barrier-memory.ts';
import { lowerBodies } from './bodies.ts';
import type { Context, Evidence } from './context.ts';
import { dropUnusedMemory } from './hidden-params.ts';
import { pointerParams, slotLimit } from './params.ts';
import { refuseOtherBarriers } from './passes/barrier-numbers.ts';
import { classifyParams } from './passes/classify-params.ts';
import { takeConstantBranches } from './passes/constant-branches.ts';
import { sumDisjointParts } from './passes/disjoint-sums.ts';
import { padHidden } from './passes/hidden-variables.ts';
import { refuseMissingMemory } from './passes/missing-memory.ts';
import { decideNullComparisons } from './passes/null-comparisons.ts';
import { packValues } from './passes/pack-values.ts';
import { useParamOffsets } from './passes/param-offsets.ts';
import { printedStrings } from './passes/printed-strings.ts';
import { decideSpaces, isOpenKernel, resolveSpaces } from './passes/resolve-spaces.ts';
import { inFlowOrder } from './ssa/flow-order.ts';
import { promoteCells } from './ssa/promote-cells.ts';
import { endWithStack } from './stack-memory.ts';

export interface Lowering {
  readonly c: Context;
  readonly entry: CheckedFunction;
  readonly diagnostics: Diagnostics;
  /** Whether nothing was reported of this entry yet. */
  isClean(): boolean;
}

export interface LowerPass {
  readonly name: string;
  run(kernel: Kernel, lowering: Lowering): void;
}

/** A pass that would report consequences of another fault, or that needs a complete kernel. */
const ifClean = (run: LowerPass['run']): LowerPass['run'] => {
  return (kernel, lowering) => {
    if (lowering.isClean()) run(kernel, lowering);
  };
};

export const lowerPasses: readonly LowerPass[] = [
  {
    name: 'lower',
    run(kernel, { c }) {
      lowerBodies(c);
      endWithStack(kernel);
      padHidden(kernel);
      useReplaced(c.evidence, c.registers.finish());
      if (!c.isForCpu) clearBarriers(kernel);
      inFlowOrder(kernel);
    },
  },
  {
    name: 'promote-cells',
    run(kernel, { c }) {
      const names = new Set([...c.cells.values()].flatMap((cell) => (cell ? [cell.name] : [])));
      useReplaced(c.evidence, promoteCells(kernel, names));
    },
  },
  { name: 'disjoint-sums', run: sumDisjointParts },
  { name: 'unreachable-code', run: (kernel, { c, entry }) => dropUnreachable(kernel, c.evidence, callsOf(entry).length > 0) },
  { name: 'barrier-numbers', run: (kernel, { c, diagnostics }) => refuseOtherBarriers(kernel, c.evidence.barriers, diagnostics) },
  {
    name: 'printed-strings',
    run(kernel, { c: { evidence } }) {
      for (const address of printedStrings(kernel, evidence.strings)) evidence.addresses.add(address);
    },
  },
  {
    name: 'classify-params',
    run(kernel, { c: { evidence }, entry, diagnostics }) {
      const { addresses, signed } = evidence;
      if (entry.fn.isEntry) classifyParams(kernel, { ...pointerParams(entry.fn), addresses, signed }, diagnostics);
    },
  },
  {
    name: 'resolve-spaces',
    run(kernel, { c: { evidence, remote, natives }, diagnostics }) {
      if (
        resolveSpaces(kernel, { marked: evidence.generic, spaced: evidence.spaced, remote, isNative: natives !== undefined }, diagnostics)
      )
        inFlowOrder(kernel);
    },
  },
  // A variable that was refused is missing too, and its accesses are no faults of their own.
  {
    name: 'missing-memory',
    run: ifClean((kernel, { diagnostics }) => void (isOpenKernel(kernel) || refuseMissingMemory(kernel, diagnostics))),
  },
  { name: 'recover-pointers', run: recoverPointers },
  { name: 'param-offsets', run: ifClean((kernel, { diagnostics }) => useParamOffsets(kernel, diagnostics)) },
  { name: 'unused-memory', run: ifClean((kernel) => dropUnusedMemory(kernel)) },
  { name: 'pack-values', run: ifClean((kernel, { c }) => packValues(kernel, c.natives ? Number.POSITIVE_INFINITY : slotLimit)) },
];

/** Rounds after which decided branches are left to the passes of the IR. */
const maxRounds = 8;

/** Drops unreachable code, as far as it bears on the memory that an address is in; each branch that is decided may decide others. */
function dropUnreachable(kernel: Kernel, { generic }: Evidence, isCalling: boolean): void {
  for (let round = 0; round < maxRounds; round++) {
    const isDecided = [decideNullComparisons(kernel, generic), decideSpaces(kernel, generic)].some((is) => is);
    if (!(isDecided || isCalling) || !takeConstantBranches(kernel)) return;
    inFlowOrder(kernel);
  }
}

/** Moves the facts about values to the values that replace them. */
function useReplaced({ addresses, strings, barriers }: Evidence, final: (value: Value) => Value): void {
  for (const [barrier, { value, node }] of barriers) barriers.set(barrier, { value: final(value), node });
  for (const known of [addresses, strings]) {
    const own = [...known];
    known.clear();
    for (const value of own) known.add(final(value));
  }
}
