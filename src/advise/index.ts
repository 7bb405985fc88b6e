/**
 * Advice before a launch: what an access of a warp needs of memory, where warps diverge, and what is wrong wherever the kernel runs. Nothing is
 * executed; what depends on loaded values is not claimed. Start at `warp.ts`, which finds the form of every value in the threads of a warp.
 */
import { Diagnostics } from '../base/diagnostic.ts';
import { type Dim3, product } from '../base/dim3.ts';
import type { SourceFile } from '../base/source.ts';
import { type CompileOptions, checkSource, toIr } from '../compile/index.ts';
import type { Kernel } from '../ir/index.ts';
import type { Checked } from '../ptx/index.ts';
import { type AdvisedAccess, accessesOf, areExact } from './accesses.ts';
import { type AdvisedBranch, branchesOf } from './flow.ts';
import type { AdvisedLaunch } from './launch.ts';
import { type Occupancy, occupancyOf } from './occupancy.ts';
import { everyWarpFor, prepare, warpsFor } from './prepare.ts';
import { reportFindings } from './report.ts';
import { adviseOnCollectives } from './warp-words.ts';
import { adviseOnWords } from './words.ts';

export type { AdvisedAccess, Certainty } from './accesses.ts';
export type { AdvisedBranch } from './flow.ts';
export type { AdvisedLaunch } from './launch.ts';
export type { Occupancy } from './occupancy.ts';
export { accessText, efficiencyOf, spreadText, stepsText } from './report.ts';

/** The advice on one kernel. */
export interface KernelAdvice {
  readonly kernel: string;
  readonly grid: Dim3 | undefined;
  readonly block: Dim3 | undefined;
  readonly accesses: readonly (AdvisedAccess & { readonly line: number })[];
  readonly branches: readonly (AdvisedBranch & { readonly line: number })[];
  /** Undefined where the block or the architecture is not known. */
  readonly occupancy: Occupancy | undefined;
}

/** Bytes of local memory of a thread above which there is a note. */
const maxStackBytes = 2048;
/** The part of the warps of a multiprocessor below which there is a note. */
const minOccupancy = 0.5;

/** A launch by the name of a kernel; undefined for a kernel whose launch is not known. */
export type LaunchOf = (kernel: string) => AdvisedLaunch | undefined;

/**
 * The advice on every kernel of a PTX text. Reports errors, lints and advice; undefined after errors.
 */
export function advise(
  source: SourceFile,
  launchOf: LaunchOf,
  options: CompileOptions,
  diagnostics: Diagnostics,
): KernelAdvice[] | undefined {
  const own = new Diagnostics(source);
  const ir = toIr(source, { ...options, target: 'cpu', marks: true, sanitize: true, lints: true }, own);
  const checked = ir && checkSource(source, options, new Diagnostics(source));
  if (checked) adviseOnWords(checked, own);
  const found = checked && ir.kernels.map((kernel) => adviseOnKernel(kernel, { checked, source }, launchOf(kernel.name) ?? {}, own));
  // A function is compiled for each of its calls, and an instruction may become several operations.
  diagnostics.addNew(own.list.filter((each, i) => i === own.list.findIndex((other) => isSame(each, other))));
  return found;
}

const isSame = (a: Diagnostics['list'][number], b: Diagnostics['list'][number]): boolean =>
  a.code === b.code && a.labels[0]?.span.start === b.labels[0]?.span.start && (a.code.startsWith('CM23') || a.message === b.message);

interface Text {
  readonly checked: Checked;
  readonly source: SourceFile;
}

function adviseOnKernel(kernel: Kernel, { checked, source }: Text, given: AdvisedLaunch, diagnostics: Diagnostics): KernelAdvice {
  const all = prepare(kernel, given);
  const warps = warpsFor(all);
  const { grid, block } = all.launch;
  const first = accessesOf(kernel, warps, block !== undefined);
  const every = areExact(first) ? undefined : everyWarpFor(all);
  const accesses = every ? accessesOf(kernel, every, true) : first;
  const branches = branchesOf(all, every ?? warps);
  const occupancy = reportOccupancy(kernel, checked, all.launch, diagnostics);
  reportFindings({ all, warps, accesses, branches }, source, diagnostics);
  adviseOnCollectives(all, warps, source.text, diagnostics);
  reportStack(kernel, checked, diagnostics);
  const lineOf = (start: number | undefined): number => (start === undefined ? 0 : source.position(start).line);
  return {
    kernel: kernel.name,
    grid,
    block,
    accesses: accesses.map((access) => ({ ...access, line: lineOf(access.span?.start) })),
    branches: branches.map((branch) => ({
      ...branch,
      line: lineOf((kernel.blocks[branch.block]!.endLoc ?? kernel.locs[branch.value])?.start),
    })),
    occupancy,
  };
}

/** Reports CM2314: large arrays of each thread. */
function reportStack(kernel: Kernel, checked: Checked, diagnostics: Diagnostics): void {
  const bytes = kernel.variables.filter(({ space }) => space === 'local').reduce((sum, { size }) => sum + size, 0);
  const entry = checked.entries.find(({ fn }) => fn.name === kernel.name);
  if (bytes > maxStackBytes && entry)
    diagnostics.report('CM2314', { kernel: kernel.name, bytes, limit: maxStackBytes }, { span: entry.fn.nameSpan });
}

/** The occupancy of a launch; reports CM2316. */
function reportOccupancy(
  kernel: Kernel,
  checked: Checked,
  { block, sharedBytes }: AdvisedLaunch,
  diagnostics: Diagnostics,
): Occupancy | undefined {
  const entry = checked.entries.find(({ fn }) => fn.name === kernel.name);
  const sm = checked.module.targets.map(({ name }) => /^sm_(\d+)[af]?$/.exec(name)?.[1]).find((digits) => digits !== undefined);
  if (!block || !entry || sm === undefined) return undefined;
  const shared = kernel.variables
    .filter(({ space, isDynamic }) => space === 'shared' && !isDynamic)
    .reduce((sum, { size }) => sum + size, 0);
  const found = occupancyOf(Number(sm), block, shared + (sharedBytes ?? 0));
  if (!found || found.warps >= minOccupancy * found.maxWarps) return found;
  const why = `${found.blocks} blocks of ${product(block)} threads, limited by ${found.by}`;
  diagnostics.report('CM2316', { warps: found.warps, of: found.maxWarps, arch: found.arch, why }, { span: entry.fn.nameSpan });
  return found;
}
