/** What a device of the API and all that was made by it share: what runs underneath, the order of work, and what went wrong. */
import type { Code, Holes } from '../base/catalogue/index.ts';
import { Diagnostics, type Where } from '../base/diagnostic.ts';
import type { DeviceBuffer, Device as LowDevice, PendingLaunch } from '../device/device.ts';
import { CumetalError, DeviceLostError, errorOf } from './failures.ts';
import { newSchedule, type Schedule } from './schedule.ts';

/** Memory with an address, in order of addresses. */
export interface Addressed {
  readonly address: bigint;
  readonly memory: Memory;
}

/** What a buffer and its parts share. */
export interface Memory {
  readonly context: Context;
  /** Bytes. */
  readonly size: number;
  /** Of the device; nothing for memory of the host. */
  readonly low: DeviceBuffer | undefined;
  /** Of the host. */
  readonly host: Uint8Array | undefined;
  /** Work under way that uses it. */
  uses: number;
  isFree: boolean;
}

export interface Context {
  low: LowDevice;
  readonly reopen: (() => LowDevice) | undefined;
  readonly print: ((text: Uint8Array) => void) | undefined;
  readonly timeoutMs: number;
  schedule: Schedule;
  /** Memory whose addresses were asked for. */
  addressed: Addressed[];
  /** Counts resets: what was made before one is gone. */
  age: number;
  readonly running: Set<PendingLaunch>;
  isClosed: boolean;
  isCallingBack: boolean;
  /** The error that stays. */
  fault: CumetalError | undefined;
  /** What went wrong in work that nobody asked about yet. */
  untold: CumetalError | undefined;
}

/** What all handles have: where they belong, and since when. */
export interface Owned {
  readonly context: Context;
  readonly age: number;
}

export interface ContextOptions {
  /** Takes what kernels print. */
  readonly print?: (text: Uint8Array) => void;
  /** Milliseconds that a launch may take where it does not say itself; 0 is no limit. 10 s where nothing is said. */
  readonly timeoutMs?: number;
}

/** A context over a device. */
export const newContext = (low: LowDevice, reopen: (() => LowDevice) | undefined, options: ContextOptions): Context => ({
  low,
  reopen,
  print: options.print,
  timeoutMs: options.timeoutMs ?? 10_000,
  schedule: newSchedule(),
  addressed: [],
  age: 0,
  running: new Set(),
  isClosed: false,
  isCallingBack: false,
  fault: undefined,
  untold: undefined,
});

/** The exception for one diagnostic. */
export function errorWith<C extends Code>(code: C, holes: Holes<C>, where?: Where, cause?: unknown): CumetalError {
  const diagnostics = new Diagnostics();
  diagnostics.report(code, holes, where);
  return errorOf(diagnostics, cause);
}

/** What a function of the host has thrown, as an error of the API. */
export function errorOfThrown(thrown: unknown): CumetalError {
  if (thrown instanceof CumetalError) return thrown;
  return errorWith('CM5073', { why: thrown instanceof Error ? thrown.message : String(thrown) }, {}, thrown);
}

/** Runs what reports; throws what it reported as an error. */
export function must<T>(run: (diagnostics: Diagnostics) => T | undefined): T {
  const diagnostics = new Diagnostics();
  const result = run(diagnostics);
  if (result === undefined || diagnostics.hasErrors) throw errorOf(diagnostics);
  return result;
}

/** Throws where the device may not be used: closed, failed, or by a function that it calls itself. */
export function mayUse(context: Context, owned?: Owned, what = 'device'): void {
  if (context.isCallingBack) throw errorWith('CM5069', {});
  if (context.isClosed) throw errorWith('CM5061', { what: 'device', ended: 'closed' });
  if (context.fault) throw failed(context.fault);
  if (owned && owned.age !== context.age) throw errorWith('CM5061', { what, ended: 'closed by a reset of its device' });
}

/** What every call says of a device that has failed: CUDA's number is that of what made it fail. */
function failed(fault: CumetalError): CumetalError {
  const diagnostics = new Diagnostics();
  diagnostics.report('CM5072', { why: fault.message.split('\n')[0]! });
  return new DeviceLostError(diagnostics.list, fault.cuda, fault);
}

/** Remembers what work under way has met: for good, or until somebody asks. */
export function remember(context: Context, error: CumetalError): void {
  if (error.cuda.isSticky) context.fault ??= error;
  else context.untold ??= error;
}

/** Throws what went wrong in work that has ended, once unless it stays. */
export function tell(context: Context): void {
  if (context.fault) throw failed(context.fault);
  const { untold } = context;
  context.untold = undefined;
  if (untold) throw untold;
}
