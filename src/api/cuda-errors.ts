/**
 * The CUDA errors of this API: number, name and text of `cudaGetErrorName` and `cudaGetErrorString`, the driver's name, and whether
 * the error is sticky until the device is reset. `failures.ts` maps diagnostics to them.
 *
 * Source: CUDA Runtime API 13.0, "cudaError_t"; CUDA Driver API 13.0, "CUresult"; the texts are those of libcudart 13.0.
 */

export interface CudaError {
  readonly number: number;
  readonly name: `cudaError${string}` | 'cudaSuccess';
  readonly text: string;
  /** The driver's name of the error. */
  readonly driver: `CUDA_${string}`;
  /** The driver's number, if it differs. */
  readonly driverNumber?: number;
  /** Whether every later call fails with it until the device is reset. */
  readonly isSticky?: boolean;
}

const rows = {
  cudaSuccess: { number: 0, text: 'no error', driver: 'CUDA_SUCCESS' },
  cudaErrorInvalidValue: { number: 1, text: 'invalid argument', driver: 'CUDA_ERROR_INVALID_VALUE' },
  cudaErrorMemoryAllocation: { number: 2, text: 'out of memory', driver: 'CUDA_ERROR_OUT_OF_MEMORY' },
  // The driver has no such error: it reports an invalid launch as an invalid argument.
  cudaErrorInvalidConfiguration: {
    number: 9,
    text: 'invalid configuration argument',
    driver: 'CUDA_ERROR_INVALID_VALUE',
    driverNumber: 1,
  },
  cudaErrorInvalidSymbol: { number: 13, text: 'invalid device symbol', driver: 'CUDA_ERROR_NOT_FOUND', driverNumber: 500 },
  cudaErrorInvalidMemcpyDirection: {
    number: 21,
    text: 'invalid copy direction for memcpy',
    driver: 'CUDA_ERROR_INVALID_VALUE',
    driverNumber: 1,
  },
  cudaErrorDevicesUnavailable: {
    number: 46,
    text: 'CUDA-capable device(s) is/are busy or unavailable',
    driver: 'CUDA_ERROR_DEVICE_UNAVAILABLE',
    isSticky: true,
  },
  cudaErrorInvalidDeviceFunction: { number: 98, text: 'invalid device function', driver: 'CUDA_ERROR_NOT_FOUND', driverNumber: 500 },
  cudaErrorNoDevice: { number: 100, text: 'no CUDA-capable device is detected', driver: 'CUDA_ERROR_NO_DEVICE' },
  cudaErrorInvalidDevice: { number: 101, text: 'invalid device ordinal', driver: 'CUDA_ERROR_INVALID_DEVICE' },
  cudaErrorInvalidKernelImage: { number: 200, text: 'device kernel image is invalid', driver: 'CUDA_ERROR_INVALID_IMAGE' },
  cudaErrorNoKernelImageForDevice: {
    number: 209,
    text: 'no kernel image is available for execution on the device',
    driver: 'CUDA_ERROR_NO_BINARY_FOR_GPU',
  },
  cudaErrorInvalidPtx: { number: 218, text: 'a PTX JIT compilation failed', driver: 'CUDA_ERROR_INVALID_PTX' },
  cudaErrorUnsupportedPtxVersion: {
    number: 222,
    text: 'the provided PTX was compiled with an unsupported toolchain.',
    driver: 'CUDA_ERROR_UNSUPPORTED_PTX_VERSION',
  },
  cudaErrorInvalidResourceHandle: { number: 400, text: 'invalid resource handle', driver: 'CUDA_ERROR_INVALID_HANDLE' },
  cudaErrorSymbolNotFound: { number: 500, text: 'named symbol not found', driver: 'CUDA_ERROR_NOT_FOUND' },
  cudaErrorNotReady: { number: 600, text: 'device not ready', driver: 'CUDA_ERROR_NOT_READY' },
  cudaErrorIllegalAddress: {
    number: 700,
    text: 'an illegal memory access was encountered',
    driver: 'CUDA_ERROR_ILLEGAL_ADDRESS',
    isSticky: true,
  },
  cudaErrorLaunchOutOfResources: {
    number: 701,
    text: 'too many resources requested for launch',
    driver: 'CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES',
  },
  cudaErrorLaunchTimeout: {
    number: 702,
    text: 'the launch timed out and was terminated',
    driver: 'CUDA_ERROR_LAUNCH_TIMEOUT',
    isSticky: true,
  },
  cudaErrorContextIsDestroyed: { number: 709, text: 'context is destroyed', driver: 'CUDA_ERROR_CONTEXT_IS_DESTROYED' },
  cudaErrorAssert: { number: 710, text: 'device-side assert triggered', driver: 'CUDA_ERROR_ASSERT', isSticky: true },
  cudaErrorLaunchFailure: { number: 719, text: 'unspecified launch failure', driver: 'CUDA_ERROR_LAUNCH_FAILED', isSticky: true },
  cudaErrorNotPermitted: { number: 800, text: 'operation not permitted', driver: 'CUDA_ERROR_NOT_PERMITTED' },
  cudaErrorNotSupported: { number: 801, text: 'operation not supported', driver: 'CUDA_ERROR_NOT_SUPPORTED' },
  cudaErrorUnknown: { number: 999, text: 'unknown error', driver: 'CUDA_ERROR_UNKNOWN' },
} as const satisfies Record<CudaError['name'], Omit<CudaError, 'name'>>;

/** The name of a CUDA error of this API. */
export type CudaErrorName = keyof typeof rows;

/** All errors by name. */
export const cudaErrors = Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { name, ...row }])) as unknown as {
  readonly [N in CudaErrorName]: CudaError & { readonly name: N; readonly number: (typeof rows)[N]['number'] };
};

const byNumber = new Map<number, CudaError>(Object.values(cudaErrors).map((row) => [row.number, row]));

/** The error of a number; undefined for an unknown number. */
export const cudaErrorNumbered = (number: number): CudaError | undefined => byNumber.get(number);
