/**
 * Text back ends: kernels of the IR as source text of other languages, structured and readable. `structure.ts` makes a tree of loops and choices,
 * `body.ts` its statements, `rules.ts` what the languages of the C family share; each language is a folder with a total table over the ops.
 * `capabilities.ts` says what each can express. Start at `opencl/index.ts`.
 */
export { type Construct, constructs, type Form, type Profile, profiles, type TextTarget } from './capabilities.ts';
export { type HostKernel, type HostLanguage, hostFile } from './host.ts';
export { type MslArgument, type MslText, mslFile, mslKernel } from './msl/index.ts';
export { type KernelText, openclFile, openclKernel, statusWords, type TextArgument } from './opencl/index.ts';
export { openclOptions } from './opencl/options.ts';
export { savedHead, waitsAtBarrier } from './opencl/suspend.ts';
export { type Declared, type PtxOptions, ptxArchitectures, ptxFile } from './ptx/index.ts';
export { type TargetProfile, targetProfiles } from './targets.ts';
export { type Exactness, fast, launchHead, portable, stops, type WgslArgument, type WgslText, wgslFile, wgslKernel } from './wgsl/index.ts';
