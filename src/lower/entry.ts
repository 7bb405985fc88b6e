/** One entry: its parameters and the context of its body, then the passes of `lower-passes.ts`. */
import type { Diagnostics } from '../base/diagnostic.ts';
import {
  type AfterPass,
  type Block,
  type Builder,
  builder,
  type ClusterRules,
  constantOf,
  emptyKernel,
  type FloatRange,
  type FloatSpan,
  floatRange,
  floatSpan,
  type Kernel,
  type Service,
  type Space,
  type Type,
  type Value,
} from '../ir/index.ts';
import {
  type AccessSpace,
  type AddressOperand,
  type CheckedFunction,
  distancesOf,
  type MatchedOperand,
  type ProductExpansion,
  type PtxFunction,
  type ReadingCode,
  type ReadingOperands,
  type Register,
  type RowBuilder,
} from '../ptx/index.ts';
import { askSpace, convertAddress, pointerTo } from './address.ts';
import { barrierWordOf } from './barrier-words.ts';
import { arrivalRegister, hasRow, lowerClusterBarrier } from './cluster-barriers.ts';
import { clusterWord, lowerBlockBarrier, unequalBarrier } from './cluster-groups.ts';
import {
  type Context,
  lowerChoose,
  lowerEither,
  lowerPoll,
  lowerRepeat,
  lowerUpdate,
  lowerWhen,
  type Natives,
  newEvidence,
  newFrame,
  readRegister,
  writeRegister,
} from './context.ts';
import { lowerStop, placeOf } from './faults.ts';
import { newFlow } from './flow.ts';
import { checkSlots, serviceParam } from './hidden-params.ts';
import type { Architecture } from './kept.ts';
import { type Lowering, lowerPasses } from './lower-passes.ts';
import { lowerGroupBarrier } from './named-barriers.ts';
import { headOf } from './native-calls.ts';
import { readDestination } from './operands.ts';
import { lowerParams } from './params.ts';
import { hiddenVariable, isAddressable, threadMemory } from './passes/hidden-variables.ts';
import { noteProduct } from './product-functions.ts';
import { callReading } from './reading-function.ts';
import { registerFile } from './ssa/ssa.ts';
import { allocateOnStack, restoreStack } from './stack.ts';
import { stackTop } from './stack-memory.ts';
import { variablesOf } from './variables.ts';

/** How the blocks of a cluster run: by turns, on one thread of the host, or as one block of the device. */
export type Clusters = 'turns' | 'groups';

/** The context that the kernels of a module share. */
export type Surroundings = Pick<Context, 'functions' | 'recursions' | 'functionNumbers' | 'globals'> & {
  readonly isMmaFast: boolean;
  readonly hasMma: boolean;
  /** Whether functions compute products of matrices. */
  readonly hasProductFunctions: boolean;
  /** Whether functions read memory. */
  readonly hasReadingFunctions: boolean;
  readonly hasMarks: boolean;
  readonly isForCpu: boolean;
  /** Whether the code is for the sanitizer. */
  readonly isSanitized: boolean;
  readonly clusters: Clusters;
  /** Whether barriers of blocks of a cluster are words of shared memory, because their threads do not reach them with those of the other blocks. */
  readonly hasBlockWords: boolean;
  /** Of kernels that become PTX again: the architecture whose instructions stay what they are, which those are, and the version of the module. */
  readonly ptx: (Architecture & Pick<Natives, 'version' | 'keeps' | 'kernels'>) | undefined;
  /** The functions that were lowered by themselves. */
  readonly callees: Map<PtxFunction, Callee>;
  readonly afterPass?: AfterPass | undefined;
};

/** The kernel of an entry with its calls inlined; incomplete after reports of CM20xx and CM2090. */
export function lowerEntry(entry: CheckedFunction, around: Surroundings, diagnostics: Diagnostics): Kernel {
  const before = diagnostics.list.length;
  const { kernel, c } = lowerOnce(entry, around, diagnostics);
  if (c.natives && c.natives.called.size > 0) kernel.callees = calleesOf(c.natives, around, diagnostics);
  const unequal = diagnostics.list.length === before ? unequalBarrier(c) : undefined;
  if (unequal === undefined) return kernel;
  if (around.isForCpu) return lowerOnce(entry, { ...around, hasBlockWords: true }, diagnostics).kernel;
  const span = kernel.locs[unequal];
  diagnostics.report(
    'CM2090',
    {
      what: 'a barrier that not all blocks of a cluster are known to reach together, beside barriers of a block,',
      target: 'Apple GPUs',
      why: 'a whole cluster is one threadgroup there',
    },
    { ...(span ? { span } : {}), help: 'compile for the CPU device with `--target cpu`' },
  );
  return kernel;
}

/** The functions that a kernel calls, and those that these call. */
function calleesOf({ called }: Natives, around: Surroundings, diagnostics: Diagnostics): Map<string, Kernel> {
  const found = new Map<string, Kernel>();
  const work = [...called];
  for (let fn = work.pop(); fn; fn = work.pop()) {
    if (found.has(fn.name)) continue;
    const known = around.callees.get(fn) ?? lowerCallee(fn, around, diagnostics);
    around.callees.set(fn, known);
    found.set(fn.name, known.kernel);
    work.push(...known.called);
  }
  return found;
}

/** A function that is called, as a kernel of its own. */
function lowerCallee(fn: PtxFunction, around: Surroundings, diagnostics: Diagnostics): Callee {
  const { kernel, c } = lowerOnce(around.functions.get(fn)!, around, diagnostics);
  kernel.head = headOf(fn);
  const hidden = kernel.variables.find((variable) => !isAddressable(variable));
  if (hidden) {
    const what = 'a barrier or memory of the block in a function that may come to call itself';
    const holes = { what, target: `PTX of sm_${around.ptx?.sm}`, why: 'each function would have its own' };
    diagnostics.report('CM2090', holes, { span: fn.nameSpan });
  }
  return { kernel, called: [...c.natives!.called] };
}

/** A function that is lowered by itself, and those that it calls. */
export interface Callee {
  readonly kernel: Kernel;
  readonly called: readonly PtxFunction[];
}

function lowerOnce(
  entry: CheckedFunction,
  around: Surroundings,
  diagnostics: Diagnostics,
): { readonly kernel: Kernel; readonly c: Context } {
  const before = diagnostics.list.length;
  const { fn } = entry;
  const kernel = emptyKernel(fn.name);
  if (fn.isEntry) kernel.params = lowerParams(fn, diagnostics);
  Object.assign(kernel, threadLimits(fn));
  const cluster = clusterRules(fn);
  if (cluster) kernel.cluster = cluster;
  const c = newContext(kernel, entry, around, diagnostics);
  const lowering: Lowering = { c, entry, diagnostics, isClean: () => diagnostics.list.length === before };
  for (const { name, run } of lowerPasses) {
    run(kernel, lowering);
    // A kernel with refused code may break promises.
    if (lowering.isClean()) around.afterPass?.(name, kernel);
  }
  // What its blocks are is noted when the kernel becomes one of whole clusters.
  if (c.group?.isNeeded) kernel.cluster = { ...kernel.cluster, group: { sharedBytes: 0, isOfWarps: false, isDynamic: false } };
  if (around.ptx === undefined) checkSlots(kernel, fn.nameSpan, diagnostics);
  return { kernel, c };
}

/** The flag `CC.CF`, which instructions name by `.cc` alone. Source: PTX ISA 9.0, 9.7.2. */
const conditionCode: Register = { name: 'CC.CF', declared: 'pred', type: 'i1' };

function newContext(kernel: Kernel, entry: CheckedFunction, around: Surroundings, diagnostics: Diagnostics): Context {
  const start = newFlow(kernel, 0);
  const ir = withConstants(builder(kernel, start.block));
  const frame = newFrame(entry, start);
  const rows = Object.assign(Object.create(ir) as typeof ir, {
    lanes: undefined as number | undefined,
    ...formsOf(kernel, ir, around),
    ...ofClusters(around, () => c),
    part: (operand: string): string | undefined => rows.operands.find(({ slot }) => slot.name === operand)?.part,
    operands: [] as readonly MatchedOperand[],
    pointer: (address: AddressOperand, space: AccessSpace): Value => pointerTo(c, address, space),
    convertAddress: (a: Value, space: AccessSpace, to: 'generic' | 'space'): Value => convertAddress(c, a, space, to),
    isspace: (a: Value, { space }: { readonly space: Space | 'shared::cluster' }): Value => askSpace(c, a, space),
    when: (condition: Value, body: () => void): void => lowerWhen(c, condition, body),
    ...hiddenPointers(ir, kernel),
    alloca: (size: Value, align: Value): Value => allocateOnStack(c, size, align),
    stackTop: (): Value => stackTop(c),
    setStackTop: (top: Value): void => restoreStack(c, top),
    accumulators: (): readonly Value[] => readDestination(c, rows.operands[0]!),
    threadMemory: (bytes: number): Value => ir.variable('ptr.local', { name: threadMemory(kernel, bytes).name }),
    groupBarrier: (): void => lowerGroupBarrier(c),
    orderPoint: (barrier?: Value): void => void (around.isSanitized && orderPoint(ir, barrier)),
    service: (which: Service): Value => ir.ptrtoint('i64', ir.param('ptr.global', { index: serviceParam(kernel, which) })),
    update: (pointer: Value, compute: (old: Value) => Value, type?: 'i32' | 'i64'): Value => lowerUpdate(c, pointer, compute, type),
    barrierWord: barrierWordOf(() => c),
    once: valuesAt(ir, start.block),
    stop: (why: string): void => lowerStop(c, `${why}${placeOf(c)}`),
    either: (condition: Value, yes: () => Value, no: () => Value): Value => lowerEither(c, condition, yes, no),
    choose: (condition: Value, yes: () => readonly Value[], no: () => readonly Value[]): Value[] => lowerChoose(c, condition, yes, no),
    repeat: (count: Value, first: readonly Value[], body: Parameters<typeof lowerRepeat>[3]): Value[] => lowerRepeat(c, count, first, body),
    poll: (tries: number, condition: () => Value): Value => lowerPoll(c, tries, condition),
    carry: (): Value => readRegister(c, conditionCode),
    setCarry: (carry: Value): void => writeRegister(c, conditionCode, carry),
    ...refusals(ir, around, diagnostics),
  });
  const c: Context = {
    kernel,
    diagnostics,
    functions: around.functions,
    recursions: around.recursions,
    functionNumbers: around.functionNumbers,
    globals: around.globals,
    ir,
    rows,
    registers: registerFile(kernel, start),
    stackTop: { name: 'cumetal.top', declared: 'b32', type: 'i32' },
    variables: variablesOf(kernel, diagnostics),
    cells: new Map(),
    evidence: newEvidence(),
    hasMarks: around.hasMarks,
    isSanitized: around.isSanitized,
    isForCpu: around.isForCpu,
    ...nativeState(around),
    ...clusterState(kernel, entry, around),
    chosen: new Map(),
    ...{ whole: frame, frame },
    flow: start,
    scope: entry.scope,
    guard: undefined,
    remote: undefined,
  };
  if (!hasClusters(around) && hasRow(entry, around.functions, ({ name }) => name === 'mapa')) c.remote = distancesOf(rows);
  return c;
}

/** Rows ask for the same constants at each instruction: those of a block are made once in it, which spares the passes most of their instructions. */
function withConstants(ir: Builder): Builder {
  const make = ir.const;
  const known = new Map<Type, Map<bigint | number, Value>>();
  let block: Block | undefined;
  return Object.assign(ir, {
    const(type: Type, bits: bigint | number): Value {
      if (ir.block !== block) known.clear();
      block = ir.block;
      const values = known.get(type) ?? new Map<bigint | number, Value>();
      known.set(type, values);
      const value = values.get(bits) ?? make(type, bits);
      values.set(bits, value);
      return value;
    },
  });
}

/** Of kernels that become PTX again. */
const nativeState = ({ ptx }: Surroundings): Pick<Context, 'natives'> => ({
  natives: ptx && { ...ptx, forms: new Map(), called: new Set() },
});

/** What the target has, and notes of what it has not. */
const formsOf = (kernel: Kernel, ir: Builder, { isMmaFast, isForCpu, hasMma, hasProductFunctions, hasReadingFunctions }: Surroundings) => ({
  ...{ isMmaFast, isForCpu, hasMma },
  readingFunction: hasReadingFunctions
    ? (name: string, operands: ReadingOperands, code: ReadingCode): Value => callReading(kernel, ir, name, operands, code)
    : undefined,
  productFunction: hasProductFunctions ? (form: string, expand: ProductExpansion): void => noteProduct(kernel, form, expand) : undefined,
  adapt(): void {
    kernel.isAdapted = true;
  },
});

/** Whether the target has clusters itself. */
const hasClusters = ({ ptx }: Surroundings): boolean => ptx !== undefined && ptx.sm >= 90;

/** What is noted of the clusters of a kernel. */
function clusterState(kernel: Kernel, entry: CheckedFunction, around: Surroundings): Pick<Context, 'arrival' | 'group'> {
  const { clusters, functions, hasBlockWords } = around;
  if (hasClusters(around)) return { arrival: undefined, group: undefined };
  const waits = hasRow(entry, functions, ({ control }) => control === 'wait');
  const isGroup = clusters === 'groups';
  if (waits && isGroup) serviceParam(kernel, 'group');
  return {
    arrival: waits && !isGroup ? arrivalRegister() : undefined,
    group: isGroup ? { isNeeded: waits, hasWords: hasBlockWords, hasBarriers: false } : undefined,
  };
}

/** Clusters of blocks, and barriers, which depend on how their blocks run. */
const ofClusters = ({ clusters }: Surroundings, context: () => Context) => ({
  clustersTakeTurns: clusters === 'turns',
  clusterWord: (at: number): Value => clusterWord(context(), at),
  clusterBarrier: (step: 'arrive' | 'wait'): void => lowerClusterBarrier(context(), step),
  barrier: (): Value => lowerBlockBarrier(context()),
});

/** What is known of a value when a row asks. */
const factsOf = (kernel: Kernel) => ({
  constantOf: (value: Value): bigint | undefined => constantOf(kernel, value),
  floatRange: (value: Value): FloatRange => floatRange(kernel, value),
  floatSpan: (value: Value): FloatSpan => floatSpan(kernel, value),
});

/** Shared memory without a name in the source, and what is known of values. */
const hiddenPointers = (ir: Context['ir'], kernel: Kernel) => ({
  blockWord: (): Value => ir.variable('ptr.shared', { name: hiddenVariable(kernel, 'word').name }),
  tensorMemory: (): Value => ir.variable('ptr.shared', { name: hiddenVariable(kernel, 'tensor').name }),
  ...factsOf(kernel),
  reservedShared: (): Value => ir.variable('ptr.shared', { name: hiddenVariable(kernel, 'reserved').name }),
});

/** Something that the sanitizer finds at the line of the instruction: a fence, or a load of a barrier. */
const orderPoint = (ir: Context['ir'], barrier: Value | undefined): Value =>
  barrier === undefined ? ir.fence({ scope: 'block' }) : ir.load('i64', barrier, { align: 8, volatile: true });

/** How rows report that an instruction is not supported, or not by the target. */
const refusals = (ir: Pick<Context['ir'], 'loc'>, { isForCpu }: Surroundings, diagnostics: Diagnostics) => ({
  needsCpu(reason: string): void {
    if (isForCpu) return;
    const where = { ...(ir.loc ? { span: ir.loc } : {}), label: reason, help: 'compile for the CPU device with `--target cpu`' };
    diagnostics.report('CM2001', { instruction: 'this instruction' }, where);
  },
  refuse(reason: string): undefined {
    diagnostics.report('CM2001', { instruction: 'this instruction' }, { ...(ir.loc ? { span: ir.loc } : {}), label: reason });
    return undefined;
  },
});

/** Values by their keys that are computed in another block than the one that is being filled. */
function valuesAt(ir: Context['ir'], block: Block): RowBuilder['once'] {
  const known = new Map<string, Value>();
  return (key, compute) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const { block: own } = ir;
    ir.block = block;
    const value = compute();
    ir.block = own;
    known.set(key, value);
    return value;
  };
}

/** `.reqnctapercluster`, `.explicitcluster` and `.maxclusterrank`. */
function clusterRules({ directives }: PtxFunction): ClusterRules | undefined {
  const valuesOf = (name: string): number[] | undefined => directives.find((directive) => directive.name === name)?.values.map(Number);
  const required = valuesOf('reqnctapercluster');
  const [most] = valuesOf('maxclusterrank') ?? [];
  const isExplicit = valuesOf('explicitcluster') !== undefined;
  if (!required && most === undefined && !isExplicit) return undefined;
  return {
    ...(required ? { required: [required[0] ?? 1, required[1] ?? 1, required[2] ?? 1] as const } : {}),
    ...(most === undefined ? {} : { most }),
    ...(isExplicit ? { isExplicit } : {}),
  };
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
