/**
 * Launches as files, for a machine that has Metal and nothing of ours: a folder for each, with the metallib, what its slots hold
 * before, and `job.json`, which says what goes where. `run.swift` reads these names; a spec holds them equal.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KernelReflection } from '../../src/air/index.ts';
import type { Device, DeviceBuffer, DeviceModule, Dim3, LaunchRequest, LaunchResult } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';

/** What stands in a slot of a kernel, and the file that holds it. */
export interface Slot {
  readonly slot: number;
  readonly file: string;
}

export interface Job {
  readonly library: string;
  readonly kernel: string;
  /** Threadgroups, and threads of one. */
  readonly grid: Dim3;
  readonly block: Dim3;
  /** Bytes of threadgroup memory in slot 0; a multiple of 16. */
  readonly dynamicShared: number;
  /** Device buffers; what they hold afterwards goes to a file with `.out` behind its name. */
  readonly buffers: readonly Slot[];
  /** Set by value. */
  readonly values: readonly Slot[];
}

/** What became of a job. */
export interface Result {
  /** Whether library and pipeline were made, and the launch ended without an error. */
  readonly good: boolean;
  /** What Metal said, where it is not. */
  readonly message: string;
  /** The simdgroup, in threads; and most threads of a threadgroup of this kernel. */
  readonly width: number;
  readonly maxThreads: number;
  readonly milliseconds: number;
}

const [jobName, resultName, libraryName] = ['job.json', 'result.json', 'kernel.metallib'];

/** Folders with jobs below a folder, in order. */
export function jobFolders(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(jobName))
    .map((path) => join(root, path.slice(0, -jobName.length)))
    .sort();
}

export const readJob = (folder: string): Job => JSON.parse(readFileSync(join(folder, jobName), 'utf8')) as Job;
export const readLibrary = (folder: string): Uint8Array => readFileSync(join(folder, libraryName));
export const writeResult = (folder: string, result: Result): void => writeFileSync(join(folder, resultName), JSON.stringify(result));

/** Nothing where the job was not run. */
export function readResult(folder: string): Result | undefined {
  const path = join(folder, resultName);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Result) : undefined;
}

interface FileBuffer extends DeviceBuffer {
  bytes: Uint8Array;
}

const fileBuffer = (size: number): FileBuffer => {
  const buffer: FileBuffer = {
    size,
    bytes: new Uint8Array(size),
    write: (bytes, offset = 0) => buffer.bytes.set(bytes, offset),
    read: () => buffer.bytes.slice(),
    deviceAddress: () => {
      throw new Error('what is in a file has no address: no launch of the examples puts one into memory');
    },
    free: () => {},
  };
  return buffer;
};

/** Takes a launch: writes it down, or reads what became of it. */
type Taker = (kernel: KernelReflection, request: LaunchRequest) => LaunchResult | undefined;

/** A device whose launches go to a function; of libraries it knows what the CPU device knows. */
function deviceOf(take: Taker): Device {
  const cpu = openCpuDevice();
  return {
    info: cpu.info,
    allocate: (size) => fileBuffer(size),
    load(metallib, diagnostics): DeviceModule | undefined {
      const module = cpu.load(metallib, diagnostics);
      return module && { ...module, launch: (request) => take(module.kernels.find(({ name }) => name === request.kernel)!, request) };
    },
    close: () => cpu.close(),
  };
}

const fileOf = (slot: number): string => `slot${slot}.bin`;

/** A device that writes each launch into a folder instead of running it. Throws for a kernel that wants more than its parameters. */
export function writingDevice(folder: string, metallib: Uint8Array): Device {
  return deviceOf((kernel, request) => {
    if (kernel.memory || kernel.faults || kernel.printf || kernel.params.some(({ offset }) => offset !== undefined))
      throw new Error(`${kernel.name} takes buffers of its own or shared slots, which jobs do not have`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, libraryName), metallib);
    const slots = { buffers: [] as Slot[], values: [] as Slot[] };
    request.args.forEach((arg, i) => {
      const { slot } = kernel.params[i]!;
      // Nothing is bound to the slot.
      if (arg.kind === 'null') return;
      const file = fileOf(slot);
      writeFileSync(join(folder, file), arg.kind === 'buffer' ? arg.buffer.read() : arg.bytes);
      slots[arg.kind === 'buffer' ? 'buffers' : 'values'].push({ slot, file });
    });
    const { grid, block } = request;
    const dynamicShared = Math.ceil(request.dynamicSharedBytes / 16) * 16;
    const job: Job = { library: libraryName, kernel: kernel.name, grid, block, dynamicShared, ...slots };
    writeFileSync(join(folder, jobName), `${JSON.stringify(job, undefined, 2)}\n`);
    return { durationMs: 0 };
  });
}

/** A device whose launches are those that were run from a folder: buffers afterwards hold what was left there. */
export function readingDevice(folder: string): Device {
  return deviceOf((kernel, request) => {
    request.args.forEach((arg, i) => {
      if (arg.kind !== 'buffer') return;
      const left = new Uint8Array(readFileSync(join(folder, `${fileOf(kernel.params[i]!.slot)}.out`)));
      if (left.length !== arg.buffer.size) throw new Error(`${folder}: ${left.length} bytes for a buffer of ${arg.buffer.size}`);
      arg.buffer.write(left);
    });
    return { durationMs: readResult(folder)?.milliseconds ?? 0 };
  });
}
