/** One entry: its parameters and the context of its body, then the passes of `lower-passes.ts`. */
import type { Diagnostics } from '../base/diagnostic.ts';
import { type AfterPass, BuilderBase, type ClusterRules, emptyKernel, type InsertPoint, type Kernel, KnownConstants } from '../ir/index.ts';
import { type CheckedFunction, distancesOf, type PtxFunction } from '../ptx/index.ts';
import { arrivalRegister, hasRow } from './cluster-barriers.ts';
import { unequalBarrier } from './cluster-groups.ts';
import { type Context, type Natives, newEvidence, newFrame } from './context.ts';
import { newFlow } from './flow.ts';
import { checkSlots, serviceParam } from './hidden-params.ts';
import type { Architecture } from './kept.ts';
import { KernelRowBuilder, type RowChoices } from './kernel-row-builder.ts';
import { type Lowering, lowerPasses } from './lower-passes.ts';
import { headOf } from './native-calls.ts';
import { lowerParams } from './params.ts';
import { isAddressable } from './passes/hidden-variables.ts';
import { registerFile } from './ssa/ssa.ts';
import { variablesOf } from './variables.ts';

/** The context that the kernels of a module share. */
export type Surroundings = Pick<Context, 'functions' | 'recursions' | 'functionNumbers' | 'globals'> &
  RowChoices & {
    readonly hasMarks: boolean;
    /** Whether the code is for the sanitizer. */
    readonly isSanitized: boolean;
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

function newContext(kernel: Kernel, entry: CheckedFunction, around: Surroundings, diagnostics: Diagnostics): Context {
  const start = newFlow(kernel, 0);
  const at: InsertPoint = { kernel, block: start.block, loc: undefined, constants: new KnownConstants() };
  const ir = new BuilderBase(at);
  const rows = new KernelRowBuilder(at, around);
  const frame = newFrame(entry, start);
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
  rows.c = c;
  if (!hasClusters(around) && hasRow(entry, around.functions, ({ name }) => name === 'mapa')) c.remote = distancesOf(rows);
  return c;
}

/** Of kernels that become PTX again. */
const nativeState = ({ ptx }: Surroundings): Pick<Context, 'natives'> => ({
  natives: ptx && { ...ptx, forms: new Map(), called: new Set() },
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
