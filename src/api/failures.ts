/**
 * The mapping of diagnostics to exception classes and CUDA errors. Errors are values inside the project; the API throws them as
 * exceptions that carry the diagnostics.
 */
import { bug } from '../base/bug.ts';
import type { Code } from '../base/catalogue/index.ts';
import type { Diagnostic, Diagnostics } from '../base/diagnostic.ts';
import { type CudaError, type CudaErrorName, cudaErrors } from './cuda-errors.ts';

/** Any error of this API. */
export class CumetalError extends Error {
  // A literal, because bundling renames the class.
  override readonly name: string = 'CumetalError';
  /** All diagnostics, the error itself first. */
  readonly diagnostics: readonly Diagnostic[];
  /** The code of the error itself. */
  readonly code: Code;
  /** The equivalent CUDA error. */
  readonly cuda: CudaError;

  constructor(diagnostics: readonly Diagnostic[], cuda: CudaError, cause?: unknown) {
    const [first] = diagnostics;
    super(textOf(first!), cause === undefined ? {} : { cause });
    this.diagnostics = diagnostics;
    this.code = first!.code;
    this.cuda = cuda;
  }
}

/** PTX that does not compile. */
export class CompileError extends CumetalError {
  override readonly name = 'CompileError';
}
/** A module without the requested kernel. */
export class KernelNotFoundError extends CumetalError {
  override readonly name = 'KernelNotFoundError';
}
/** A library or kernel that the device rejects. */
export class PipelineCreationError extends CumetalError {
  override readonly name = 'PipelineCreationError';
}
/** Memory, streams, events and symbols: unavailable, or used incorrectly. */
export class ResourceError extends CumetalError {
  override readonly name = 'ResourceError';
}
/** A launch that does not match its kernel, or that failed. */
export class LaunchError extends CumetalError {
  override readonly name = 'LaunchError';
}
/** A device that accepts no more work. */
export class DeviceLostError extends CumetalError {
  override readonly name = 'DeviceLostError';
}
/** A device that is not available on this machine. */
export class DeviceNotFoundError extends CumetalError {
  override readonly name = 'DeviceNotFoundError';
}

const classes = {
  CompileError,
  KernelNotFoundError,
  PipelineCreationError,
  ResourceError,
  LaunchError,
  DeviceLostError,
  DeviceNotFoundError,
} as const;

// Bundling renames a class to a name like `LaunchError2`, which Node prints for an uncaught error.
for (const [value, made] of Object.entries({ CumetalError, ...classes })) Object.defineProperty(made, 'name', { value });

/** Whether the stack of a thread was too small, of which an H200 says that the address is not valid. */
const isStackOverflow = ({ code, message }: Diagnostic): boolean =>
  code === 'CM6014' && message.includes('stopped itself: the stack of a thread is too small');

/** The exception class and the CUDA error of a diagnostic. */
export interface Failure {
  readonly error: keyof typeof classes;
  readonly cuda: CudaErrorName;
}

const is = (error: Failure['error'], cuda: CudaErrorName): Failure => ({ error, cuda });

/** The mapping by code or code prefix; the longest match applies. */
export const failures: Readonly<Record<string, Failure>> = {
  CM: is('LaunchError', 'cudaErrorUnknown'),
  CM1: is('CompileError', 'cudaErrorInvalidPtx'),
  CM1120: is('KernelNotFoundError', 'cudaErrorInvalidDeviceFunction'),
  CM20: is('CompileError', 'cudaErrorNoKernelImageForDevice'),
  CM21: is('CompileError', 'cudaErrorUnsupportedPtxVersion'),
  CM2101: is('CompileError', 'cudaErrorInvalidPtx'),
  CM2107: is('CompileError', 'cudaErrorInvalidPtx'),
  CM4: is('PipelineCreationError', 'cudaErrorInvalidKernelImage'),
  CM4061: is('PipelineCreationError', 'cudaErrorNoKernelImageForDevice'),
  CM4053: is('PipelineCreationError', 'cudaErrorNoKernelImageForDevice'),
  CM50: is('LaunchError', 'cudaErrorInvalidValue'),
  CM5001: is('KernelNotFoundError', 'cudaErrorInvalidDeviceFunction'),
  CM5002: is('KernelNotFoundError', 'cudaErrorInvalidDeviceFunction'),
  CM5003: is('KernelNotFoundError', 'cudaErrorInvalidDeviceFunction'),
  CM5020: is('LaunchError', 'cudaErrorInvalidConfiguration'),
  CM5021: is('LaunchError', 'cudaErrorInvalidConfiguration'),
  CM5023: is('ResourceError', 'cudaErrorInvalidSymbol'),
  CM5024: is('LaunchError', 'cudaErrorInvalidConfiguration'),
  CM5029: is('LaunchError', 'cudaErrorNotSupported'),
  CM5034: is('LaunchError', 'cudaErrorInvalidConfiguration'),
  CM506: is('ResourceError', 'cudaErrorInvalidValue'),
  CM5061: is('ResourceError', 'cudaErrorInvalidResourceHandle'),
  CM5062: is('ResourceError', 'cudaErrorInvalidResourceHandle'),
  CM5065: is('ResourceError', 'cudaErrorNotSupported'),
  CM5066: is('ResourceError', 'cudaErrorNotReady'),
  CM5067: is('ResourceError', 'cudaErrorInvalidResourceHandle'),
  CM5068: is('ResourceError', 'cudaErrorNotReady'),
  CM5069: is('ResourceError', 'cudaErrorNotPermitted'),
  CM5070: is('LaunchError', 'cudaErrorInvalidValue'),
  CM5071: is('LaunchError', 'cudaErrorInvalidValue'),
  CM5072: is('DeviceLostError', 'cudaErrorDevicesUnavailable'),
  CM5073: is('LaunchError', 'cudaErrorUnknown'),
  CM5075: is('ResourceError', 'cudaErrorUnknown'),
  CM5076: is('ResourceError', 'cudaErrorContextIsDestroyed'),
  CM5054: is('LaunchError', 'cudaErrorInvalidClusterSize'),
  CM5055: is('ResourceError', 'cudaErrorInvalidValue'),
  CM5056: is('ResourceError', 'cudaErrorInvalidValue'),
  CM5057: is('ResourceError', 'cudaErrorInvalidValue'),
  CM5078: is('ResourceError', 'cudaErrorInvalidValue'),
  CM5084: is('CompileError', 'cudaErrorInvalidValue'),
  CM5085: is('CompileError', 'cudaErrorInvalidValue'),
  CM5086: is('CompileError', 'cudaErrorInvalidValue'),
  CM5087: is('CompileError', 'cudaErrorInvalidValue'),
  CM5088: is('CompileError', 'cudaErrorInvalidValue'),
  CM5089: is('CompileError', 'cudaErrorInvalidValue'),
  CM5093: is('LaunchError', 'cudaErrorInvalidValue'),
  CM5079: is('ResourceError', 'cudaErrorInvalidValue'),
  CM6001: is('DeviceNotFoundError', 'cudaErrorNoDevice'),
  CM6010: is('LaunchError', 'cudaErrorLaunchTimeout'),
  CM6011: is('LaunchError', 'cudaErrorIllegalAddress'),
  CM6012: is('ResourceError', 'cudaErrorMemoryAllocation'),
  CM6013: is('PipelineCreationError', 'cudaErrorNoKernelImageForDevice'),
  CM6014: is('LaunchError', 'cudaErrorLaunchFailure'),
  CM6020: is('LaunchError', 'cudaErrorLaunchTimeout'),
  CM6021: is('LaunchError', 'cudaErrorIllegalAddress'),
  CM6022: is('LaunchError', 'cudaErrorLaunchTimeout'),
  CM6023: is('ResourceError', 'cudaErrorMemoryAllocation'),
  CM6024: is('DeviceLostError', 'cudaErrorDevicesUnavailable'),
  CM6025: is('LaunchError', 'cudaErrorLaunchFailure'),
  CM6026: is('PipelineCreationError', 'cudaErrorInvalidKernelImage'),
  CM6027: is('PipelineCreationError', 'cudaErrorNoKernelImageForDevice'),
  CM6028: is('PipelineCreationError', 'cudaErrorNoKernelImageForDevice'),
  CM6029: is('DeviceLostError', 'cudaErrorDevicesUnavailable'),
  CM6030: is('LaunchError', 'cudaErrorLaunchOutOfResources'),
  // The CUDA device.
  CM6040: is('PipelineCreationError', 'cudaErrorInvalidKernelImage'),
  CM6041: is('CompileError', 'cudaErrorInvalidPtx'),
  CM6042: is('LaunchError', 'cudaErrorLaunchFailure'),
};

/** Whether a kernel was aborted by `assert`; CUDA distinguishes this from `trap`. */
const isAssertion = ({ code, message }: Diagnostic): boolean => code === 'CM6014' && message.includes('stopped itself: assertion ');

/** The exception class and the CUDA error of a diagnostic. */
export function failureOf(diagnostic: Diagnostic): Failure {
  if (isAssertion(diagnostic)) return is('LaunchError', 'cudaErrorAssert');
  if (isStackOverflow(diagnostic)) return is('LaunchError', 'cudaErrorIllegalAddress');
  for (let { length } = diagnostic.code; length >= 2; length--) {
    const found = failures[diagnostic.code.slice(0, length)];
    if (found) return found;
  }
  return bug(`no failure for ${diagnostic.code}`);
}

/** The exception for a list of diagnostics, by the first error. */
export function errorOf({ list }: Diagnostics, cause?: unknown): CumetalError {
  const first = list.find((d) => d.severity === 'error') ?? bug('no error to throw');
  const { error, cuda } = failureOf(first);
  return new classes[error]([first, ...list.filter((d) => d !== first)], cudaErrors[cuda], cause);
}

/** `message [CM5011]` with location, notes and help. */
function textOf({ code, message, notes, help, file, labels }: Diagnostic): string {
  const span = labels[0]?.span;
  const place = file && span ? `${file.path}:${file.position(span.start).line}:${file.position(span.start).column}: ` : '';
  return [`${place}${message} [${code}]`, ...notes.map((note) => `note: ${note}`), ...(help === undefined ? [] : [`help: ${help}`])].join(
    '\n',
  );
}
