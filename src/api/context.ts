/** The state shared by a device of the API and its objects: the underlying device, the order of work, and the errors. */
import type { Code, Holes } from '../base/catalogue/index.ts';
import { Diagnostics, type Where } from '../base/diagnostic.ts';
import type { DeviceBuffer, Device as LowDevice, PendingLaunch } from '../device/device.ts';
import { printToStandardOutput } from '../device/standard-output.ts';
import { isTimeLimit } from '../device/validate-launch.ts';
import { CumetalError, DeviceLostError, errorOf } from './failures.ts';
import { allEnded, newSchedule, type Schedule, type Task } from './schedule.ts';
import { noteHeard, noteUnheard, nothingUnheard, type Unheard, waiting } from './unheard.ts';

/** Memory with a known address; lists are sorted by address. */
export interface Addressed {
  readonly address: bigint;
  readonly memory: Memory;
}

/** The memory shared by a buffer and its parts. */
export interface Memory {
  readonly context: Context;
  /** Bytes. */
  readonly size: number;
  /** The device memory; undefined for host memory. */
  readonly low: DeviceBuffer | undefined;
  /** The host memory. */
  readonly host: Uint8Array | undefined;
  /** Gives memory of a pool back when the pending work has finished. */
  readonly release?: () => void;
  /** The pool that it is of. */
  readonly pool?: unknown;
  /** The number of pending uses. */
  uses: number;
  isFree: boolean;
}

/** A pool, as far as synchronizations and other allocations need it. */
interface Pool {
  /** Frees what is reserved above the threshold. */
  trimToThreshold(): void;
  /** Frees all that is not used. */
  trimForOthers(): void;
}

export interface Context {
  low: LowDevice;
  readonly reopen: (() => LowDevice) | undefined;
  /** Receives the output of `printf`. */
  readonly print: ((text: Uint8Array) => void) | undefined;
  readonly onError: ((error: CumetalError) => void) | undefined;
  readonly timeoutMs: number;
  schedule: Schedule;
  /** Memory with known addresses. */
  addressed: Addressed[];
  readonly pools: Set<Pool>;
  /** The number of resets; objects of an earlier generation are invalid. */
  age: number;
  readonly running: Set<PendingLaunch>;
  isClosed: boolean;
  isCallingBack: boolean;
  /** The sticky error. */
  fault: CumetalError | undefined;
  /** The error of finished work that has not been reported yet. */
  unreported: CumetalError | undefined;
  readonly unheard: Unheard;
}

/** The owner of a handle, and its generation. */
export interface Owned {
  readonly context: Context;
  readonly age: number;
}

/** Receives the output of `printf` after a launch has ended; `false` drops it. */
export type Print = ((text: Uint8Array) => void) | false;

/** Options of every device of the API. */
export interface ContextOptions {
  /** Receives the output of `printf`; by default it is written to standard output, or to the console of a page. `false` drops it. */
  readonly print?: Print;
  /** The default time limit of a launch in milliseconds; 0 is no limit. The default is 10 s. */
  readonly timeoutMs?: number;
  /**
   * Receives the error of work that fails while nothing waits for the device: neither the work itself nor a synchronization. By default such
   * an error is an unhandled rejection.
   */
  readonly onError?: (error: CumetalError) => void;
}

/** The default time limit of a launch. */
const defaultTimeoutMs = 10_000;

/** Throws CM5077 for a time limit that is not a number of milliseconds. */
export function assertTimeLimit(timeoutMs: number = defaultTimeoutMs): void {
  if (!isTimeLimit(timeoutMs)) throw errorWith('CM5077', { given: String(timeoutMs) });
}

/** Creates the context of a device. */
export const newContext = (low: LowDevice, reopen: (() => LowDevice) | undefined, options: ContextOptions): Context => ({
  low,
  reopen,
  print: options.print === false ? undefined : (options.print ?? printToStandardOutput),
  onError: options.onError,
  timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
  schedule: newSchedule(),
  addressed: [],
  pools: new Set(),
  age: 0,
  running: new Set(),
  isClosed: false,
  isCallingBack: false,
  fault: undefined,
  unreported: undefined,
  unheard: nothingUnheard(),
});

/** The exception for one diagnostic. */
export function errorWith<C extends Code>(code: C, holes: Holes<C>, where?: Where, cause?: unknown): CumetalError {
  const diagnostics = new Diagnostics();
  diagnostics.report(code, holes, where);
  return errorOf(diagnostics, cause);
}

/** The exception of a host function as an error of the API. */
export function errorOfThrown(thrown: unknown): CumetalError {
  if (thrown instanceof CumetalError) return thrown;
  return errorWith('CM5073', { why: thrown instanceof Error ? thrown.message : String(thrown) }, {}, thrown);
}

/** Runs a function that reports diagnostics, and throws its errors. */
export function orThrow<T>(run: (diagnostics: Diagnostics) => T | undefined): T {
  const diagnostics = new Diagnostics();
  const result = run(diagnostics);
  if (result === undefined || diagnostics.hasErrors) throw errorOf(diagnostics);
  return result;
}

/** Throws if the device is not usable: closed, failed, or used from its own callback. */
export function assertUsable(context: Context, owned?: Owned, what = 'device'): void {
  if (context.isCallingBack) throw errorWith('CM5069', {});
  if (context.isClosed) throw errorWith('CM5061', { what: 'device', ended: 'closed' });
  if (context.fault) throw failed(context, context.fault);
  if (owned && owned.age !== context.age) throw errorWith('CM5061', { what, ended: 'closed by a reset of its device' });
}

/** The error of every call on a failed device; its CUDA number is that of the original error. */
function failed(context: Context, fault: CumetalError): CumetalError {
  noteHeard(context);
  const diagnostics = new Diagnostics();
  diagnostics.report('CM5072', { why: fault.message.split('\n')[0]! });
  return new DeviceLostError(diagnostics.list, fault.cuda, fault);
}

/** Records the error of pending work: permanently if it is sticky, otherwise until it is reported. */
export function remember(context: Context, error: CumetalError): void {
  if (error.cuda.isSticky) context.fault ??= error;
  else context.unreported ??= error;
  noteUnheard(context, error);
}

/** Throws the error of finished work, once unless it is sticky. */
export function throwUnreported(context: Context): void {
  if (context.fault) throw failed(context, context.fault);
  const { unreported } = context;
  context.unreported = undefined;
  noteHeard(context);
  if (unreported) throw unreported;
}

/** Waits for tasks, then throws the error of finished work, or CM5076 if the device was closed or reset before the end of a task. */
export async function synchronizeWith(context: Context, tasks: readonly Task[]): Promise<void> {
  await waiting(context, allEnded(tasks));
  if (tasks.some(({ isCutOff }) => isCutOff)) throw errorWith('CM5076', { ended: context.isClosed ? 'closed' : 'reset' });
  throwUnreported(context);
  for (const pool of context.pools) pool.trimToThreshold();
}
