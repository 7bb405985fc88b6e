/** cumetal's public API: compile PTX to a metallib, and run metallibs on a device. */
export type { KernelReflection, ParamReflection, Reflection } from './air/abi.ts';
export type { ConstantValue, GivenConstant } from './air/function-constants.ts';
export { type Diagnostic, Diagnostics } from './base/diagnostic.ts';
export { SourceFile, type Span } from './base/source.ts';
export { type Compiled, type CompileOptions, compile, type Emit, emit } from './compile/index.ts';
export type {
  Device,
  DeviceBuffer,
  DeviceInfo,
  DeviceModule,
  LaunchArgument,
  LaunchRequest,
  LaunchResult,
  LoadOptions,
  Order,
  SanitizeRequest,
} from './device/device.ts';
export { devices, openDevice } from './device/index.ts';
export type { Profile, ProfileLine, ProfileRequest } from './device/profile.ts';
export type { Trace, TraceRequest, TraceStep } from './device/trace.ts';
