/** Compiles the module of a task for a device, and loads it. */
import { targets } from '../../air/targets.ts';
import { namesMeant } from '../../base/demangle/index.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import type { Compile, CompileCache } from '../../cache/index.ts';
import { beyondTarget, prefersCpu } from '../../compile/about-targets.ts';
import type { Compiled, CompileOptions } from '../../compile/index.ts';
import type { CodeStore, Device, DeviceModule } from '../../device/device.ts';
import type { LaunchPlan } from '../../runtime/index.ts';
import { hostHash } from '../command/host-hash.ts';
import { binaryDiagnostics } from '../input/binary.ts';
import type { Input } from '../input/index.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import type { Report } from './report.ts';
import type { Task } from './task.ts';

/** The receiver of diagnostics and notes. */
type Notes = Pick<Report, 'diagnostics' | 'notes'>;

/** The module of a task, ready to launch, or the exit code after reporting an error. */
export async function loadTask(
  device: Device,
  { input, request, plan }: Task,
  report: Notes,
  cache?: CompileCache,
  codes?: CodeStore,
): Promise<DeviceModule | ExitCode> {
  const { diagnostics } = report;
  const options = withEntry(request.compile, plan);
  if (device.loadPtx && input.kind === 'ptx') return loadPtx(device, input, options, diagnostics);
  const bytes = input.kind === 'metallib' ? input.bytes : await compileFor(device, input, options, { report, plan, cache });
  if (!bytes) return doesNotCompile(diagnostics);
  const own = input.kind === 'metallib' ? binaryDiagnostics(input.path) : new Diagnostics();
  const module = device.load(bytes, own, {
    constants: request.constants,
    ...(plan.kernel === undefined ? {} : { kernels: [plan.kernel] }),
    ...(codes ? { codes } : {}),
  });
  diagnostics.addAll(own.list);
  return module ?? exit.failed;
}

/** The exit code after a compile error. A missing kernel is a failed launch, in a PTX file as in a metallib, and an ambiguous one a usage error. */
function doesNotCompile({ list }: Diagnostics): ExitCode {
  if (list.some((d) => d.code === 'CM1121')) return exit.usage;
  return list.some((d) => d.code === 'CM1120') ? exit.failed : exit.doesNotCompile;
}

/** The exit code of a failed launch. An ambiguous kernel (CM5002, CM5004) is a usage error. */
export const launchFault = (diagnostics: Diagnostics): ExitCode =>
  diagnostics.list.some((d) => d.code === 'CM5002' || d.code === 'CM5004') ? exit.usage : exit.failed;

async function loadPtx(
  device: Device,
  { source }: Input & { kind: 'ptx' },
  options: CompileOptions,
  diagnostics: Diagnostics,
): Promise<DeviceModule | ExitCode> {
  const { reflect } = await import('../../compile/index.ts');
  const own = new Diagnostics(source);
  const reflection = reflect(source, options, own);
  const code = reflection ? exit.failed : doesNotCompile(own);
  const module = reflection && device.loadPtx!({ source, kernels: reflection.kernels }, own);
  diagnostics.addAll(own.sorted());
  return module ?? code;
}

/** Compiles only the chosen kernel. */
const withEntry = (options: CompileOptions, { kernel }: LaunchPlan): CompileOptions =>
  kernel === undefined ? options : { ...options, entries: [kernel] };

/** The CPU device has forms of its own, which some texts prefer; OpenCL and WebGPU devices have what the target `cpu` adds to AIR: double precision, 64-bit atomics, and masks in divergent code. */
const targetFor = ({ info }: Device, options: CompileOptions, text: string): CompileOptions => {
  if (info.kind === 'cpu' && options.target === undefined && prefersCpu(text)) return { ...options, target: 'cpu' };
  return (info.kind === 'opencl' || info.kind === 'webgpu') && options.target === undefined
    ? { ...options, target: 'cpu', isForText: true }
    : options;
};

/** The metallib of a PTX file. On the CPU device, a module that no Apple target supports is compiled for `cpu`, with a note. */
async function compileFor(
  device: Device,
  input: Input & { kind: 'ptx' },
  options: CompileOptions,
  { report, plan, cache }: { readonly report: Notes; readonly plan: LaunchPlan; readonly cache: CompileCache | undefined },
): Promise<Uint8Array | undefined> {
  const load = async (): Promise<Compile> => (await import('../../compile/index.ts')).compile;
  const compileOnce = async (options: CompileOptions, diagnostics: Diagnostics): Promise<Compiled | undefined> => {
    const all = { ...hostHash, ...options };
    return cache ? cache.compiled(input.source, all, diagnostics, load) : (await load())(input.source, all, diagnostics);
  };
  const first = new Diagnostics(input.source);
  const chosen = targetFor(device, options, input.source.text);
  const compiled = await compileOnce(chosen, first);
  const why = device.info.kind === 'cpu' && chosen.target === undefined ? beyondApple(compiled, first, plan) : undefined;
  if (why !== undefined) {
    const second = new Diagnostics(input.source);
    const forCpu = await compileOnce({ ...options, target: 'cpu' }, second);
    if (forCpu) {
      if (why !== '') report.notes.push(`compiled for \`--target cpu\`, because ${why}`);
      report.diagnostics.addAll(second.sorted());
      return forCpu.metallib;
    }
  }
  report.diagnostics.addAll(first.sorted());
  return compiled?.metallib;
}

/**
 * Why a kernel is compiled for the CPU device; undefined where it is not, or where an error has another cause. Empty if Apple GPUs give the same
 * results in blocks of most shapes, with locks that the CPU device does not need, with clusters that are single blocks, or by other forms.
 */
function beyondApple(compiled: Compiled | undefined, reported: Diagnostics, { kernel, sharedBytes = 0 }: LaunchPlan): string | undefined {
  if (!compiled) return beyondTarget(reported)?.message;
  const chosen = compiled.reflection.kernels.find(({ name }) => kernel === undefined || namesMeant(kernel, [name]).length > 0);
  if (chosen?.checkedMasks === 'divergent') return 'it follows the masks of collectives in divergent code, which Apple targets only check';
  if (chosen?.checkedMasks !== undefined || chosen?.locks || chosen?.isAdapted || chosen?.cluster?.group) return '';
  const bytes = (chosen?.staticSharedBytes ?? 0) + sharedBytes;
  const { total } = targets.macos14.shared;
  return bytes > total ? `the launch needs ${bytes} bytes of shared memory, and Apple GPUs have ${total}` : undefined;
}
