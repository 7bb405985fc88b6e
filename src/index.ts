/** cumetal's public API: compile PTX to a metallib, and run kernels on a device. `cumetal/device` is what is underneath, `cumetal/cuda` CUDA's names. */
export type { KernelReflection, ParamReflection, Reflection } from './air/abi.ts';
export type { ConstantValue, GivenConstant } from './air/raise/function-constants.ts';
export * from './api/index.ts';
export { type Diagnostic, Diagnostics } from './base/diagnostic.ts';
export { SourceFile, type Span } from './base/source.ts';
export { type Compiled, type CompileOptions, compile, type Emit, emit } from './compile/index.ts';
export type { DeviceInfo, DeviceKind, EngineOptions } from './device/device.ts';
export type { Profile, ProfileLine, ProfileRequest } from './device/profile.ts';
export type { Trace, TraceRequest, TraceStep } from './device/trace.ts';
