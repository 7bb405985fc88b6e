/** One entry: parameters, then basic block after basic block, then what can only be seen when all are there. */
import type { Diagnostics } from '../base/diagnostic.ts';
import { builder, emptyKernel, type Kernel, recoverPointers, type Space, type Value } from '../ir/index.ts';
import {
  type AccessSpace,
  type AddressOperand,
  type CheckedFunction,
  callsOf,
  type MatchedOperand,
  type PtxFunction,
  type Register,
} from '../ptx/index.ts';
import { askSpace, convertAddress, pointerTo } from './address.ts';
import { lowerBodies } from './bodies.ts';
import {
  type Context,
  type Evidence,
  lowerEither,
  lowerUpdate,
  lowerWhen,
  newEvidence,
  newFrame,
  readRegister,
  writeRegister,
} from './context.ts';
import { lowerStop, placeOf } from './faults.ts';
import { newFlow } from './flow.ts';
import { checkSlots, dropUnusedMemory } from './hidden-params.ts';
import { lowerParams, pointerParams, slotLimit } from './params.ts';
import { refuseOtherBarriers } from './passes/barrier-numbers.ts';
import { classifyParams } from './passes/classify-params.ts';
import { takeConstantBranches } from './passes/constant-branches.ts';
import { sumDisjointParts } from './passes/disjoint-sums.ts';
import { hiddenVariable } from './passes/hidden-variables.ts';
import { refuseMissingMemory } from './passes/missing-memory.ts';
import { decideNullComparisons } from './passes/null-comparisons.ts';
import { packValues } from './passes/pack-values.ts';
import { useParamOffsets } from './passes/param-offsets.ts';
import { printedStrings } from './passes/printed-strings.ts';
import { decideSpaces, resolveSpaces } from './passes/resolve-spaces.ts';
import { inFlowOrder } from './ssa/flow-order.ts';
import { promoteCells } from './ssa/promote-cells.ts';
import { registerFile } from './ssa/ssa.ts';
import { variablesOf } from './variables.ts';

/** What the kernels of a module have in common. */
export type Surroundings = Pick<Context, 'functions' | 'functionNumbers' | 'globals'> & {
  readonly isMmaFast: boolean;
  readonly hasMarks: boolean;
};

/** The kernel of an entry with what it calls; incomplete after reports of CM20xx. */
export function lowerEntry(entry: CheckedFunction, around: Surroundings, diagnostics: Diagnostics): Kernel {
  const before = diagnostics.list.length;
  const { fn } = entry;
  const kernel = emptyKernel(fn.name);
  kernel.params = lowerParams(fn, diagnostics);
  Object.assign(kernel, threadLimits(fn));
  const c = newContext(kernel, entry, around, diagnostics);
  lowerBodies(c);
  const { evidence } = c;
  useReplaced(evidence, c.registers.finish());
  inFlowOrder(kernel);
  useReplaced(evidence, promoteCells(kernel, new Set([...c.cells.values()].flatMap((cell) => (cell ? [cell.name] : [])))));
  sumDisjointParts(kernel);
  dropDeadCode(kernel, evidence, callsOf(entry).length > 0);
  refuseOtherBarriers(kernel, evidence.barriers, diagnostics);
  for (const address of printedStrings(kernel, evidence.strings)) evidence.addresses.add(address);
  classifyParams(kernel, { ...pointerParams(fn), addresses: evidence.addresses, signed: evidence.signed }, diagnostics);
  if (resolveSpaces(kernel, { marked: evidence.generic, spaced: evidence.spaced }, diagnostics)) inFlowOrder(kernel);
  // A variable that was refused is missing too, and its accesses are no faults of their own.
  if (diagnostics.list.length === before) refuseMissingMemory(kernel, diagnostics);
  recoverPointers(kernel);
  if (diagnostics.list.length === before) useParamOffsets(kernel, diagnostics);
  if (diagnostics.list.length === before) dropUnusedMemory(kernel);
  if (diagnostics.list.length === before) packValues(kernel, slotLimit);
  checkSlots(kernel, fn, diagnostics);
  return kernel;
}

/** The flag `CC.CF`, which instructions name by `.cc` alone. Source: PTX ISA 9.0, 9.7.2. */
const conditionCode: Register = { name: 'CC.CF', declared: 'pred', type: 'i1' };

function newContext(kernel: Kernel, entry: CheckedFunction, around: Surroundings, diagnostics: Diagnostics): Context {
  const start = newFlow(kernel, 0);
  const ir = builder(kernel, start.block);
  const rows = Object.assign(Object.create(ir) as typeof ir, {
    lanes: undefined as number | undefined,
    isMmaFast: around.isMmaFast,
    part: (operand: string): string | undefined => rows.operands.find(({ slot }) => slot.name === operand)?.part,
    operands: [] as readonly MatchedOperand[],
    pointer: (address: AddressOperand, space: AccessSpace): Value => pointerTo(c, address, space),
    convertAddress: (a: Value, space: AccessSpace, to: 'generic' | 'space'): Value => convertAddress(c, a, space, to),
    isspace: (a: Value, { space }: { readonly space: Space }): Value => askSpace(c, a, space),
    when: (condition: Value, body: () => void): void => lowerWhen(c, condition, body),
    blockWord: (): Value => ir.variable('ptr.shared', { name: hiddenVariable(kernel, 'word').name }),
    reservedShared: (): Value => ir.variable('ptr.shared', { name: hiddenVariable(kernel, 'reserved').name }),
    update: (pointer: Value, compute: (old: Value) => Value): Value => lowerUpdate(c, pointer, compute),
    stop: (why: string): void => lowerStop(c, `${why}${placeOf(c)}`),
    either: (condition: Value, yes: () => Value, no: () => Value): Value => lowerEither(c, condition, yes, no),
    carry: (): Value => readRegister(c, conditionCode),
    setCarry: (carry: Value): void => writeRegister(c, conditionCode, carry),
    refuse(reason: string): undefined {
      diagnostics.report('CM2001', { instruction: 'this instruction' }, { ...(ir.loc ? { span: ir.loc } : {}), label: reason });
      return undefined;
    },
  });
  const c: Context = {
    kernel,
    diagnostics,
    functions: around.functions,
    functionNumbers: around.functionNumbers,
    globals: around.globals,
    ir,
    rows,
    registers: registerFile(kernel, start),
    variables: variablesOf(kernel, diagnostics),
    cells: new Map(),
    evidence: newEvidence(),
    hasMarks: around.hasMarks,
    chosen: new Map(),
    frame: newFrame(entry, start),
    flow: start,
    scope: entry.scope,
    guard: undefined,
  };
  return c;
}

/** Rounds after which what is still decided is left to the passes of the IR. */
const mostRounds = 8;

/** Drops what no thread comes to, as far as it bears on which memory an address is in; each branch that goes may decide others. */
function dropDeadCode(kernel: Kernel, { generic }: Evidence, isCalling: boolean): void {
  for (let round = 0; round < mostRounds; round++) {
    const isDecided = [decideNullComparisons(kernel, generic), decideSpaces(kernel, generic)].some((is) => is);
    if (!(isDecided || isCalling) || !takeConstantBranches(kernel)) return;
    inFlowOrder(kernel);
  }
}

/** What is known of values is known of those that stand in their place. */
function useReplaced({ addresses, strings, barriers }: Evidence, final: (value: Value) => Value): void {
  for (const [barrier, { value, node }] of barriers) barriers.set(barrier, { value: final(value), node });
  for (const known of [addresses, strings]) {
    const own = [...known];
    known.clear();
    for (const value of own) known.add(final(value));
  }
}

/** `.maxntid` and `.reqntid`; axes that are not written are 1. */
function threadLimits(fn: PtxFunction): Pick<Kernel, 'maxThreads' | 'requiredThreads'> {
  const axes = (name: string): [number, number, number] | undefined => {
    const values = fn.directives.find((directive) => directive.name === name)?.values.map(Number);
    return values && [values[0] ?? 1, values[1] ?? 1, values[2] ?? 1];
  };
  const required = axes('reqntid');
  const most = axes('maxntid') ?? required;
  return { maxThreads: most && most[0] * most[1] * most[2], requiredThreads: required };
}
