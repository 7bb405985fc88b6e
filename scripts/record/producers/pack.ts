/**
 * Makes the fixtures of other compilers' kernels out of their recordings: `bun scripts/record/producers/pack.ts FOLDER`, where FOLDER has what
 * the scripts beside this one wrote.
 *
 * Of a result that the manual determines a digest is kept, of another one its first elements. Of the PTX for sm_90 only that is kept which has
 * instructions that an sm_80 lacks, and of Inductor's kernels not those that are like others.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  bytesOf,
  digestOf,
  familiesFolder,
  hasOpenResults,
  type RecordedArgument,
  type RecordedKernel,
  readFamily,
  readTexts,
} from '../../../spec/support/producers.ts';

const families = ['triton', 'inductor', 'xla', 'numba', 'nvrtc', 'clang'];
const onlyNewer = /\b(wgmma|tensormap|cp\.async\.bulk|mbarrier|setmaxnreg|griddepcontrol|barrier\.cluster)\b|\batom\.[\w.]*\.v\d/;

/** Products within one model, and a kernel whose input is a few megabytes. */
const leftOut = /^transformer_block\.triton_tem_\w*(bmm_|mm_\d|mm_mul_)|^flexible_attention\.triton_red_/;
/** Elements that are kept of a result that is open. */
const mostElements = 1024;

const folder = process.argv[2]!;

function write(name: string, value: unknown): void {
  const bytes = gzipSync(JSON.stringify(value), { level: 9 });
  writeFileSync(join(familiesFolder, `${name}.json.gz`), bytes);
  console.log(name, bytes.length);
}

function packedArgument({ after, ...argument }: RecordedArgument, isOpen: boolean): RecordedArgument {
  if (after === undefined) return argument;
  const isFloat = /^b?f\d/.test(argument.buffer!);
  const bytes = bytesOf(after);
  if (!(isOpen && isFloat) && !argument.unsteady) return { ...argument, digest: digestOf(argument.buffer!, bytes) };
  const first = bytes.subarray(0, mostElements * (bytes.length / argument.count!));
  return { ...argument, after: Buffer.from(first).toString('base64') };
}

/** The text of a kernel is that of the first with the same text, and its name in the others. */
function packedKernels(kernels: readonly RecordedKernel[]): RecordedKernel[] {
  const first = new Map<string, string>();
  return kernels.map((kernel) => {
    const owner = first.get(kernel.ptx) ?? kernel.name;
    first.set(kernel.ptx, owner);
    const args = kernel.args?.map((argument) => packedArgument(argument, hasOpenResults(kernel.ptx)));
    return { ...kernel, ptx: owner === kernel.name ? kernel.ptx : owner, ...(args ? { args } : {}) };
  });
}

const has = (name: string): boolean => existsSync(join(folder, `${name}.json.gz`));
for (const name of families.filter(has)) {
  const family = readFamily(name, folder);
  write(name, { ...family, kernels: packedKernels(family.kernels.filter(({ name }) => !leftOut.test(name))) });
}
const newer = ['triton-sm90', 'inductor-sm90'].filter(has).flatMap((name) => Object.entries(readTexts(name, folder)));
if (newer.length > 0) write('sm_90', Object.fromEntries(newer.filter(([, text]) => onlyNewer.test(text))));
