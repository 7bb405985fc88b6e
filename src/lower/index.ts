/**
 * PTX to IR: control flow, registers to values, parameters and variables, functions in place of their calls. The meaning
 * of an instruction is in its row in `src/ptx/table`; this room gives rows their operands. Start at `entry.ts`.
 */
import { Diagnostics } from '../base/diagnostic.ts';
import { type AfterPass, emptyKernel, type Kernel, type Module, type ModuleMemory } from '../ir/index.ts';
import { type Checked, type CheckedFunction, forgetBody, functionNumbers } from '../ptx/index.ts';
import { inFunctions, inlinedSizes, reportTooLarge } from './called.ts';
import { lowerEntry, type Surroundings } from './entry.ts';
import { type Architecture, nativeInstructions } from './kept.ts';
import type { Clusters } from './kernel-row-builder.ts';
import { globalMemoryOf } from './module-memory.ts';

/** Instructions of modules for the first GPUs have modifiers that are not written, so that none of them stays. */
function keptInstructions(checked: Checked, architecture: Architecture): Surroundings['ptx'] {
  const { items, targets, version } = checked.module;
  return {
    ...architecture,
    sm: targets.some(({ name }) => /^sm_1\d$/.test(name)) ? 0 : architecture.sm,
    version: version ? Number(`${version.major}.${version.minor}`) : 1,
    keeps: nativeInstructions(checked, architecture),
    kernels: new Map(items.flatMap((item) => (item.kind === 'function' && item.isEntry ? [[item.name, item] as const] : []))),
  };
}

/** The variables of a module that a host reaches, apart from each other as for PTX again. */
export const memoryOf = ({ module }: Checked): ModuleMemory => globalMemoryOf(module, functionNumbers(module), true).memory;

export { checkMasks, collectiveAt, endStuckAt } from './check-masks.ts';
export { fitSlots } from './hidden-params.ts';
export { type Architecture, architectureOf, type Keeps, nativeInstructions } from './kept.ts';
export { lowerPasses } from './lower-passes.ts';
export { isBarrierMemory } from './passes/hidden-variables.ts';
export { staticSharedBytes } from './shared-size.ts';
export { promoteLocals } from './ssa/promote-locals.ts';

/** The choices of lowering. */
export interface LowerChoices {
  /** Whether products of matrices may be of tiles that the GPU multiplies. */
  readonly isMmaFast?: boolean;
  /** Whether the target has products of matrices as an instruction (`mma`). */
  readonly hasMma?: boolean;
  /** Whether functions of the kernel compute products of matrices, for a target without the instruction. */
  readonly hasProductFunctions?: boolean;
  /** Whether long code that reads memory is functions; otherwise it is expanded in place. */
  readonly hasReadingFunctions?: boolean;
  /** Whether each instruction starts with a mark. */
  readonly hasMarks?: boolean;
  /** Whether the code is for the CPU device, or for a target that takes its operations. */
  readonly isForCpu?: boolean;
  /** Whether the code is for the sanitizer. */
  readonly isSanitized?: boolean;
  /** How the blocks of a cluster run: `turns` as those of the CPU device, on one thread; `groups`, the default, as one block of the device (`src/compile/cluster-groups.ts`). */
  readonly clusters?: Clusters;
  /** Of kernels that become PTX again: the architecture. Its instructions stay what they are, and there is no limit of parameters. */
  readonly ptx?: Architecture;
  /** Observes each kernel after each pass of `lowerPasses`. */
  readonly afterPass?: AfterPass | undefined;
}

/** The kernels of a checked module. Reports CM20xx for code without an exact form; then the kernels are not to be used. */
export function lowerModule(checked: Checked, diagnostics: Diagnostics, choices: LowerChoices = {}): Module {
  return { kernels: [...lowerEntries(checked, diagnostics, choices)].map(([kernel]) => kernel) };
}

/**
 * The kernels of a checked module as `lowerModule` makes them, each when it is asked for, with its entry. Entries that were not checked lose their
 * bodies. The entries may be checked one by one.
 */
export function* lowerEntries(
  checked: Checked,
  diagnostics: Diagnostics,
  choices: LowerChoices,
  entries: Iterable<CheckedFunction> = checked.entries,
): Generator<[Kernel, CheckedFunction]> {
  if (checked.module.addressSize === 32) {
    const span = checked.module.version?.span ?? checked.entries[0]?.fn.nameSpan;
    diagnostics.report('CM2047', {}, span ? { span } : {});
    return;
  }
  const sizes = inlinedSizes(checked);
  const around = surroundingsOf(checked, choices);
  for (const fn of checked.unchecked) forgetBody({ fn, items: [] });
  for (const entry of entries) {
    const own = new Diagnostics(diagnostics.file);
    const isRefused = reportTooLarge(entry, sizes, own);
    const kernel = isRefused ? emptyKernel(entry.fn.name) : lowerEntry(entry, around, own);
    if (own.list.length > 0) diagnostics.addNew(inFunctions(entry, checked, own.list));
    yield [kernel, entry];
  }
}

/** What the kernels of a module share, by the choices. */
function surroundingsOf(checked: Checked, choices: LowerChoices): Surroundings {
  const numbers = functionNumbers(checked.module);
  return {
    functions: checked.functions,
    recursions: checked.recursions,
    functionNumbers: numbers,
    globals: globalMemoryOf(checked.module, numbers, choices.ptx !== undefined),
    isMmaFast: choices.isMmaFast ?? false,
    hasMma: choices.hasMma ?? false,
    hasProductFunctions: choices.hasProductFunctions ?? false,
    hasReadingFunctions: choices.hasReadingFunctions ?? false,
    hasMarks: choices.hasMarks ?? false,
    isForCpu: choices.isForCpu ?? false,
    isSanitized: choices.isSanitized ?? false,
    clusters: choices.clusters ?? 'groups',
    hasBlockWords: false,
    callees: new Map(),
    ptx: choices.ptx && keptInstructions(checked, choices.ptx),
    afterPass: choices.afterPass,
  };
}
