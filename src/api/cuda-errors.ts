/**
 * The errors of CUDA, of which this API gives a part: number, name and text of `cudaGetErrorName` and `cudaGetErrorString`, the driver's name, and whether
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

type Rest = Pick<CudaError, 'driverNumber' | 'isSticky'>;
const is = <N extends number>(
  number: N,
  text: string,
  driver: string,
  rest: Rest = {},
): Omit<CudaError, 'name'> & { readonly number: N } => ({
  number,
  text,
  driver: `CUDA_${driver}`,
  ...rest,
});

const rows = {
  cudaSuccess: is(0, 'no error', 'SUCCESS'),
  cudaErrorInvalidValue: is(1, 'invalid argument', 'ERROR_INVALID_VALUE'),
  cudaErrorMemoryAllocation: is(2, 'out of memory', 'ERROR_OUT_OF_MEMORY'),
  cudaErrorInitializationError: is(3, 'initialization error', 'ERROR_NOT_INITIALIZED'),
  cudaErrorCudartUnloading: is(4, 'driver shutting down', 'ERROR_DEINITIALIZED'),
  cudaErrorProfilerDisabled: is(5, 'profiler disabled while using external profiling tool', 'ERROR_PROFILER_DISABLED'),
  cudaErrorProfilerNotInitialized: is(6, 'profiler not initialized: call cudaProfilerInitialize()', 'ERROR_PROFILER_NOT_INITIALIZED'),
  cudaErrorProfilerAlreadyStarted: is(7, 'profiler already started', 'ERROR_PROFILER_ALREADY_STARTED'),
  cudaErrorProfilerAlreadyStopped: is(8, 'profiler already stopped', 'ERROR_PROFILER_ALREADY_STOPPED'),
  // The driver has no such error: it reports an invalid launch as an invalid argument.
  cudaErrorInvalidConfiguration: is(9, 'invalid configuration argument', 'ERROR_INVALID_VALUE', { driverNumber: 1 }),
  cudaErrorInvalidPitchValue: is(12, 'invalid pitch argument', 'ERROR_INVALID_VALUE', { driverNumber: 1 }),
  cudaErrorInvalidSymbol: is(13, 'invalid device symbol', 'ERROR_NOT_FOUND', { driverNumber: 500 }),
  cudaErrorInvalidHostPointer: is(16, 'invalid host pointer', 'ERROR_INVALID_VALUE', { driverNumber: 1 }),
  cudaErrorInvalidDevicePointer: is(17, 'invalid device pointer', 'ERROR_INVALID_VALUE', { driverNumber: 1 }),
  cudaErrorInvalidTexture: is(18, 'invalid texture reference', 'ERROR_INVALID_VALUE', { driverNumber: 1 }),
  cudaErrorInvalidTextureBinding: is(19, 'texture is not bound to a pointer', 'ERROR_INVALID_VALUE', { driverNumber: 1 }),
  cudaErrorInvalidChannelDescriptor: is(20, 'invalid channel descriptor', 'ERROR_INVALID_VALUE', { driverNumber: 1 }),
  cudaErrorInvalidMemcpyDirection: is(21, 'invalid copy direction for memcpy', 'ERROR_INVALID_VALUE', { driverNumber: 1 }),
  cudaErrorAddressOfConstant: is(22, 'invalid address of constant', 'ERROR_UNKNOWN', { driverNumber: 999 }),
  cudaErrorTextureFetchFailed: is(23, 'fetch from texture failed', 'ERROR_UNKNOWN', { driverNumber: 999 }),
  cudaErrorTextureNotBound: is(24, 'cannot fetch from a texture that is not bound', 'ERROR_UNKNOWN', { driverNumber: 999 }),
  cudaErrorSynchronizationError: is(25, 'incorrect use of __syncthreads()', 'ERROR_UNKNOWN', { driverNumber: 999 }),
  cudaErrorInvalidFilterSetting: is(26, 'linear filtering not supported for non-float type', 'ERROR_INVALID_VALUE', { driverNumber: 1 }),
  cudaErrorInvalidNormSetting: is(27, 'read as normalized float not supported for data type', 'ERROR_INVALID_VALUE', { driverNumber: 1 }),
  cudaErrorMixedDeviceExecution: is(28, 'device emulation mode and device execution mode cannot be mixed', 'ERROR_UNKNOWN', {
    driverNumber: 999,
  }),
  cudaErrorNotYetImplemented: is(31, 'feature not yet implemented', 'ERROR_UNKNOWN', { driverNumber: 999 }),
  cudaErrorMemoryValueTooLarge: is(32, 'memory size or pointer value too large to fit in 32 bit', 'ERROR_UNKNOWN', { driverNumber: 999 }),
  cudaErrorStubLibrary: is(34, 'CUDA driver is a stub library', 'ERROR_STUB_LIBRARY'),
  cudaErrorInsufficientDriver: is(35, 'CUDA driver version is insufficient for CUDA runtime version', 'ERROR_UNKNOWN', {
    driverNumber: 999,
  }),
  cudaErrorCallRequiresNewerDriver: is(36, 'API call is not supported in the installed CUDA driver', 'ERROR_UNKNOWN', {
    driverNumber: 999,
  }),
  cudaErrorInvalidSurface: is(37, 'invalid surface reference', 'ERROR_INVALID_VALUE', { driverNumber: 1 }),
  cudaErrorDuplicateVariableName: is(43, 'duplicate global variable looked up by string name', 'ERROR_UNKNOWN', { driverNumber: 999 }),
  cudaErrorDuplicateTextureName: is(44, 'duplicate texture looked up by string name', 'ERROR_UNKNOWN', { driverNumber: 999 }),
  cudaErrorDuplicateSurfaceName: is(45, 'duplicate surface looked up by string name', 'ERROR_UNKNOWN', { driverNumber: 999 }),
  cudaErrorDevicesUnavailable: is(46, 'CUDA-capable device(s) is/are busy or unavailable', 'ERROR_DEVICE_UNAVAILABLE', { isSticky: true }),
  cudaErrorIncompatibleDriverContext: is(49, 'incompatible driver context', 'ERROR_INVALID_CONTEXT', { driverNumber: 201 }),
  cudaErrorMissingConfiguration: is(52, '__global__ function call is not configured', 'ERROR_INVALID_VALUE', { driverNumber: 1 }),
  cudaErrorPriorLaunchFailure: is(53, 'unspecified launch failure in prior launch', 'ERROR_UNKNOWN', { driverNumber: 999 }),
  cudaErrorLaunchMaxDepthExceeded: is(65, 'launch would exceed maximum depth of nested launches', 'ERROR_UNKNOWN', { driverNumber: 999 }),
  cudaErrorLaunchFileScopedTex: is(
    66,
    'launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)',
    'ERROR_UNKNOWN',
    { driverNumber: 999 },
  ),
  cudaErrorLaunchFileScopedSurf: is(
    67,
    'launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)',
    'ERROR_UNKNOWN',
    { driverNumber: 999 },
  ),
  cudaErrorSyncDepthExceeded: is(
    68,
    "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth",
    'ERROR_UNKNOWN',
    { driverNumber: 999 },
  ),
  cudaErrorLaunchPendingCountExceeded: is(
    69,
    'launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount',
    'ERROR_UNKNOWN',
    { driverNumber: 999 },
  ),
  cudaErrorInvalidDeviceFunction: is(98, 'invalid device function', 'ERROR_NOT_FOUND', { driverNumber: 500 }),
  cudaErrorNoDevice: is(100, 'no CUDA-capable device is detected', 'ERROR_NO_DEVICE'),
  cudaErrorInvalidDevice: is(101, 'invalid device ordinal', 'ERROR_INVALID_DEVICE'),
  cudaErrorDeviceNotLicensed: is(102, "device doesn't have valid Grid license", 'ERROR_DEVICE_NOT_LICENSED'),
  cudaErrorSoftwareValidityNotEstablished: is(103, 'integrity checks failed', 'ERROR_SYSTEM_NOT_READY', { driverNumber: 802 }),
  cudaErrorStartupFailure: is(127, 'startup failure in cuda runtime', 'ERROR_UNKNOWN', { driverNumber: 999 }),
  cudaErrorInvalidKernelImage: is(200, 'device kernel image is invalid', 'ERROR_INVALID_IMAGE'),
  cudaErrorDeviceUninitialized: is(201, 'invalid device context', 'ERROR_INVALID_CONTEXT'),
  cudaErrorMapBufferObjectFailed: is(205, 'mapping of buffer object failed', 'ERROR_MAP_FAILED'),
  cudaErrorUnmapBufferObjectFailed: is(206, 'unmapping of buffer object failed', 'ERROR_UNMAP_FAILED'),
  cudaErrorArrayIsMapped: is(207, 'array is mapped', 'ERROR_ARRAY_IS_MAPPED'),
  cudaErrorAlreadyMapped: is(208, 'resource already mapped', 'ERROR_ALREADY_MAPPED'),
  cudaErrorNoKernelImageForDevice: is(209, 'no kernel image is available for execution on the device', 'ERROR_NO_BINARY_FOR_GPU'),
  cudaErrorAlreadyAcquired: is(210, 'resource already acquired', 'ERROR_ALREADY_ACQUIRED'),
  cudaErrorNotMapped: is(211, 'resource not mapped', 'ERROR_NOT_MAPPED'),
  cudaErrorNotMappedAsArray: is(212, 'resource not mapped as array', 'ERROR_NOT_MAPPED_AS_ARRAY'),
  cudaErrorNotMappedAsPointer: is(213, 'resource not mapped as pointer', 'ERROR_NOT_MAPPED_AS_POINTER'),
  cudaErrorECCUncorrectable: is(214, 'uncorrectable ECC error encountered', 'ERROR_ECC_UNCORRECTABLE', { isSticky: true }),
  cudaErrorUnsupportedLimit: is(215, 'limit is not supported on this architecture', 'ERROR_UNSUPPORTED_LIMIT'),
  cudaErrorDeviceAlreadyInUse: is(216, 'exclusive-thread device already in use by a different thread', 'ERROR_CONTEXT_ALREADY_IN_USE'),
  cudaErrorPeerAccessUnsupported: is(217, 'peer access is not supported between these two devices', 'ERROR_PEER_ACCESS_UNSUPPORTED'),
  cudaErrorInvalidPtx: is(218, 'a PTX JIT compilation failed', 'ERROR_INVALID_PTX'),
  cudaErrorInvalidGraphicsContext: is(219, 'invalid OpenGL or DirectX context', 'ERROR_INVALID_GRAPHICS_CONTEXT'),
  cudaErrorNvlinkUncorrectable: is(220, 'uncorrectable NVLink error detected during the execution', 'ERROR_NVLINK_UNCORRECTABLE', {
    isSticky: true,
  }),
  cudaErrorJitCompilerNotFound: is(221, 'PTX JIT compiler library not found', 'ERROR_JIT_COMPILER_NOT_FOUND'),
  cudaErrorUnsupportedPtxVersion: is(222, 'the provided PTX was compiled with an unsupported toolchain.', 'ERROR_UNSUPPORTED_PTX_VERSION'),
  cudaErrorJitCompilationDisabled: is(223, 'PTX JIT compilation was disabled', 'ERROR_JIT_COMPILATION_DISABLED'),
  cudaErrorUnsupportedExecAffinity: is(224, 'the provided execution affinity is not supported', 'ERROR_UNSUPPORTED_EXEC_AFFINITY'),
  cudaErrorUnsupportedDevSideSync: is(
    225,
    'the provided PTX contains unsupported call to cudaDeviceSynchronize',
    'ERROR_UNSUPPORTED_DEVSIDE_SYNC',
  ),
  cudaErrorContained: is(226, 'Invalid access of peer GPU memory over nvlink or a hardware error', 'ERROR_CONTAINED', { isSticky: true }),
  cudaErrorInvalidSource: is(300, 'device kernel image is invalid', 'ERROR_INVALID_SOURCE'),
  cudaErrorFileNotFound: is(301, 'file not found', 'ERROR_FILE_NOT_FOUND'),
  cudaErrorSharedObjectSymbolNotFound: is(302, 'shared object symbol not found', 'ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND'),
  cudaErrorSharedObjectInitFailed: is(303, 'shared object initialization failed', 'ERROR_SHARED_OBJECT_INIT_FAILED'),
  cudaErrorOperatingSystem: is(304, 'OS call failed or operation not supported on this OS', 'ERROR_OPERATING_SYSTEM'),
  cudaErrorInvalidResourceHandle: is(400, 'invalid resource handle', 'ERROR_INVALID_HANDLE'),
  cudaErrorIllegalState: is(401, 'the operation cannot be performed in the present state', 'ERROR_ILLEGAL_STATE'),
  cudaErrorLossyQuery: is(402, 'attempted introspection would be semantically lossy', 'ERROR_LOSSY_QUERY'),
  cudaErrorSymbolNotFound: is(500, 'named symbol not found', 'ERROR_NOT_FOUND'),
  cudaErrorNotReady: is(600, 'device not ready', 'ERROR_NOT_READY'),
  cudaErrorIllegalAddress: is(700, 'an illegal memory access was encountered', 'ERROR_ILLEGAL_ADDRESS', { isSticky: true }),
  cudaErrorLaunchOutOfResources: is(701, 'too many resources requested for launch', 'ERROR_LAUNCH_OUT_OF_RESOURCES'),
  cudaErrorLaunchTimeout: is(702, 'the launch timed out and was terminated', 'ERROR_LAUNCH_TIMEOUT', { isSticky: true }),
  cudaErrorLaunchIncompatibleTexturing: is(703, 'launch uses incompatible texturing mode', 'ERROR_LAUNCH_INCOMPATIBLE_TEXTURING'),
  cudaErrorPeerAccessAlreadyEnabled: is(704, 'peer access is already enabled', 'ERROR_PEER_ACCESS_ALREADY_ENABLED'),
  cudaErrorPeerAccessNotEnabled: is(705, 'peer access has not been enabled', 'ERROR_PEER_ACCESS_NOT_ENABLED'),
  cudaErrorSetOnActiveProcess: is(708, 'cannot set while device is active in this process', 'ERROR_PRIMARY_CONTEXT_ACTIVE'),
  cudaErrorContextIsDestroyed: is(709, 'context is destroyed', 'ERROR_CONTEXT_IS_DESTROYED'),
  cudaErrorAssert: is(710, 'device-side assert triggered', 'ERROR_ASSERT', { isSticky: true }),
  cudaErrorTooManyPeers: is(711, 'peer mapping resources exhausted', 'ERROR_TOO_MANY_PEERS'),
  cudaErrorHostMemoryAlreadyRegistered: is(
    712,
    'part or all of the requested memory range is already mapped',
    'ERROR_HOST_MEMORY_ALREADY_REGISTERED',
  ),
  cudaErrorHostMemoryNotRegistered: is(
    713,
    'pointer does not correspond to a registered memory region',
    'ERROR_HOST_MEMORY_NOT_REGISTERED',
  ),
  cudaErrorHardwareStackError: is(714, 'hardware stack error', 'ERROR_HARDWARE_STACK_ERROR', { isSticky: true }),
  cudaErrorIllegalInstruction: is(715, 'an illegal instruction was encountered', 'ERROR_ILLEGAL_INSTRUCTION', { isSticky: true }),
  cudaErrorMisalignedAddress: is(716, 'misaligned address', 'ERROR_MISALIGNED_ADDRESS', { isSticky: true }),
  cudaErrorInvalidAddressSpace: is(717, 'operation not supported on global/shared address space', 'ERROR_INVALID_ADDRESS_SPACE', {
    isSticky: true,
  }),
  cudaErrorInvalidPc: is(718, 'invalid program counter', 'ERROR_INVALID_PC', { isSticky: true }),
  cudaErrorLaunchFailure: is(719, 'unspecified launch failure', 'ERROR_LAUNCH_FAILED', { isSticky: true }),
  cudaErrorCooperativeLaunchTooLarge: is(720, 'too many blocks in cooperative launch', 'ERROR_COOPERATIVE_LAUNCH_TOO_LARGE'),
  cudaErrorTensorMemoryLeak: is(721, 'tensor memory not completely freed', 'ERROR_TENSOR_MEMORY_LEAK', { isSticky: true }),
  cudaErrorNotPermitted: is(800, 'operation not permitted', 'ERROR_NOT_PERMITTED'),
  cudaErrorNotSupported: is(801, 'operation not supported', 'ERROR_NOT_SUPPORTED'),
  cudaErrorSystemNotReady: is(802, 'system not yet initialized', 'ERROR_SYSTEM_NOT_READY'),
  cudaErrorSystemDriverMismatch: is(803, 'system has unsupported display driver / cuda driver combination', 'ERROR_SYSTEM_DRIVER_MISMATCH'),
  cudaErrorCompatNotSupportedOnDevice: is(
    804,
    'forward compatibility was attempted on non supported HW',
    'ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE',
  ),
  cudaErrorMpsConnectionFailed: is(
    805,
    'MPS client failed to connect to the MPS control daemon or the MPS server',
    'ERROR_MPS_CONNECTION_FAILED',
  ),
  cudaErrorMpsRpcFailure: is(806, 'the remote procedural call between the MPS server and the MPS client failed', 'ERROR_MPS_RPC_FAILURE'),
  cudaErrorMpsServerNotReady: is(807, 'MPS server is not ready to accept new MPS client requests', 'ERROR_MPS_SERVER_NOT_READY'),
  cudaErrorMpsMaxClientsReached: is(
    808,
    'the hardware resources required to create MPS client have been exhausted',
    'ERROR_MPS_MAX_CLIENTS_REACHED',
  ),
  cudaErrorMpsMaxConnectionsReached: is(
    809,
    'the hardware resources required to support device connections have been exhausted',
    'ERROR_MPS_MAX_CONNECTIONS_REACHED',
  ),
  cudaErrorMpsClientTerminated: is(810, 'the MPS client has been terminated by the server', 'ERROR_MPS_CLIENT_TERMINATED'),
  cudaErrorCdpNotSupported: is(
    811,
    'is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it',
    'ERROR_CDP_NOT_SUPPORTED',
  ),
  cudaErrorCdpVersionMismatch: is(
    812,
    'unsupported interaction between different versions of CUDA Dynamic Parallelism',
    'ERROR_CDP_VERSION_MISMATCH',
  ),
  cudaErrorStreamCaptureUnsupported: is(900, 'operation not permitted when stream is capturing', 'ERROR_STREAM_CAPTURE_UNSUPPORTED'),
  cudaErrorStreamCaptureInvalidated: is(901, 'operation failed due to a previous error during capture', 'ERROR_STREAM_CAPTURE_INVALIDATED'),
  cudaErrorStreamCaptureMerge: is(902, 'operation would result in a merge of separate capture sequences', 'ERROR_STREAM_CAPTURE_MERGE'),
  cudaErrorStreamCaptureUnmatched: is(903, 'capture was not ended in the same stream as it began', 'ERROR_STREAM_CAPTURE_UNMATCHED'),
  cudaErrorStreamCaptureUnjoined: is(904, 'capturing stream has unjoined work', 'ERROR_STREAM_CAPTURE_UNJOINED'),
  cudaErrorStreamCaptureIsolation: is(905, 'dependency created on uncaptured work in another stream', 'ERROR_STREAM_CAPTURE_ISOLATION'),
  cudaErrorStreamCaptureImplicit: is(
    906,
    'operation would make the legacy stream depend on a capturing blocking stream',
    'ERROR_STREAM_CAPTURE_IMPLICIT',
  ),
  cudaErrorCapturedEvent: is(907, 'operation not permitted on an event last recorded in a capturing stream', 'ERROR_CAPTURED_EVENT'),
  cudaErrorStreamCaptureWrongThread: is(
    908,
    'attempt to terminate a thread-local capture sequence from another thread',
    'ERROR_STREAM_CAPTURE_WRONG_THREAD',
  ),
  cudaErrorTimeout: is(909, 'wait operation timed out', 'ERROR_TIMEOUT'),
  cudaErrorGraphExecUpdateFailure: is(
    910,
    'the graph update was not performed because it included changes which violated constraints specific to instantiated graph update',
    'ERROR_GRAPH_EXEC_UPDATE_FAILURE',
  ),
  cudaErrorExternalDevice: is(911, 'an async error has occured in external entity outside of CUDA', 'ERROR_EXTERNAL_DEVICE', {
    isSticky: true,
  }),
  cudaErrorInvalidClusterSize: is(912, 'a kernel launch error has occurred due to cluster misconfiguration', 'ERROR_INVALID_CLUSTER_SIZE'),
  cudaErrorFunctionNotLoaded: is(
    913,
    'the function handle is not loaded when calling an API that requires a loaded function',
    'ERROR_FUNCTION_NOT_LOADED',
  ),
  cudaErrorInvalidResourceType: is(
    914,
    'one or more resources passed in are not valid resource types for the operation',
    'ERROR_INVALID_RESOURCE_TYPE',
  ),
  cudaErrorInvalidResourceConfiguration: is(
    915,
    'one or more resources are insufficient or non-applicable for the operation',
    'ERROR_INVALID_RESOURCE_CONFIGURATION',
  ),
  cudaErrorUnknown: is(999, 'unknown error', 'ERROR_UNKNOWN'),
} as const satisfies Partial<Record<CudaError['name'], Omit<CudaError, 'name'>>>;

/** The name of a CUDA error of this API. */
export type CudaErrorName = keyof typeof rows;

/** All errors by name. */
export const cudaErrors = Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { name, ...row }])) as unknown as {
  readonly [N in CudaErrorName]: CudaError & { readonly name: N; readonly number: (typeof rows)[N]['number'] };
};

const byNumber = new Map<number, CudaError>(Object.values(cudaErrors).map((row) => [row.number, row]));

/** The error of a number; undefined for an unknown number. */
export const cudaErrorNumbered = (number: number): CudaError | undefined => byNumber.get(number);
