/**
 * Launches of Triton's kernels: the JSON that Triton writes beside the PTX says how many warps a program has and how much shared memory, and
 * the kernel's last parameters are scratch memory, which most kernels do not use.
 * Source: `triton/backends/nvidia/driver.py` and `compiler.py` of Triton 3.2 to 3.6.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import type { ArgumentSpec, LaunchPlan } from '../../runtime/index.ts';

/** The fields of the metadata that a launch needs. */
interface Metadata {
  readonly name: string;
  readonly num_warps: number;
  readonly shared: number;
  readonly num_ctas?: number;
  readonly warp_size?: number;
  readonly global_scratch_size?: number;
  readonly profile_scratch_size?: number;
  readonly launch_cooperative_grid?: boolean;
}

/** The launch that the metadata and the command line describe together; undefined after reporting CM5048. */
export function tritonLaunch(
  path: string,
  text: string,
  source: SourceFile | undefined,
  given: LaunchPlan,
  diagnostics: Diagnostics,
): LaunchPlan | undefined {
  const metadata = readMetadata(text);
  const why = typeof metadata === 'string' ? metadata : unsupported(metadata, given.grid);
  if (typeof metadata === 'string' || why !== undefined) {
    diagnostics.report('CM5048', { path, why: why! });
    return undefined;
  }
  const { name, num_warps: warps, warp_size: lanes = 32, shared } = metadata;
  const scratch =
    source && given.args ? scratchOf(metadata, parametersOf(source.text, given.kernel ?? name) - given.args.length, given) : [];
  return {
    kernel: name,
    block: [warps * lanes, 1, 1],
    sharedBytes: shared,
    ...given,
    ...(given.args ? { args: [...given.args, ...scratch] } : {}),
  };
}

function readMetadata(text: string): Metadata | string {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return 'it is not JSON';
  }
  if (typeof read !== 'object' || read === null) return 'it is not an object';
  const fields = read as Record<string, unknown>;
  for (const [name, type] of [
    ['name', 'string'],
    ['num_warps', 'number'],
    ['shared', 'number'],
  ] as const)
    if (typeof fields[name] !== type) return `it has no ${type} \`${name}\``;
  for (const name of ['num_warps', 'shared', 'num_ctas', 'warp_size', 'global_scratch_size', 'profile_scratch_size'])
    if (fields[name] !== undefined && !isCount(fields[name])) return `\`${name}\` is no number of things`;
  return fields as unknown as Metadata;
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

function unsupported(
  {
    num_ctas: blocks = 1,
    num_warps: warps,
    warp_size: lanes = 32,
    profile_scratch_size: profile = 0,
    launch_cooperative_grid: waits,
  }: Metadata,
  grid: LaunchPlan['grid'] = [1, 1, 1],
): string | undefined {
  if (waits === true && grid.some((size) => size > 1))
    return 'the blocks of the grid wait for each other (`launch_cooperative_grid`), so that only a grid of one block can be launched';
  if (blocks !== 1) return `the kernel runs in clusters of ${blocks} blocks (\`num_ctas\`), which are not supported`;
  if (lanes !== 32) return `its warps have ${lanes} threads, so that it is not for CUDA`;
  if (warps < 1 || warps * lanes > 1024) return `a block of ${warps} warps cannot be launched`;
  return profile > 0 ? 'the kernel writes profiles (`profile_scratch_size`), which are not supported' : undefined;
}

/** Triton 3.2 to 3.4 have a parameter for global scratch memory, later versions one more for profiles. */
const maxScratch = 2;

/** Arguments of the last parameters, where the command line leaves them out. */
function scratchOf({ global_scratch_size: bytes = 0 }: Metadata, missing: number, { grid = [1, 1, 1] }: LaunchPlan): ArgumentSpec[] {
  if (missing < 1 || missing > maxScratch) return [];
  const none: ArgumentSpec = { label: 'null', kind: 'null' };
  const size = bytes * grid[0] * grid[1] * grid[2];
  const global: ArgumentSpec = { label: `u8:${size}`, kind: 'buffer', element: 'u8', shape: [size], init: { kind: 'zeros' } };
  return [size > 0 ? global : none, none].slice(0, missing);
}

/** The number of parameters of an entry in the text that LLVM prints. */
function parametersOf(text: string, name: string): number {
  const start = text.indexOf(`.entry ${name}(`);
  const end = text.indexOf('\n)', start);
  return start < 0 || end < 0 ? 0 : text.slice(start, end).split('.param ').length - 1;
}
