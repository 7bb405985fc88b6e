/**
 * AIR: LLVM in Apple's conventions, in both directions. Knows the kernel ABI, the `air.*` functions, kernel metadata, the features of each
 * target, and what drivers reject. Knows neither PTX nor the container. Start at `emit/index.ts` (IR to AIR) and `raise/index.ts` (AIR to
 * IR); the tables are `inputs.ts`, `intrinsics.ts` and `targets.ts`.
 */
export { type Diagnostic, Diagnostics } from '../base/diagnostic.ts';
export * from './abi.ts';
export { emitKernel } from './emit/index.ts';
export { legalize, legalPasses } from './emit/legalize.ts';
export { intrinsicOf } from './intrinsics.ts';
export { emulatedDoubles, keepExactDoubles } from './legalize/emulate-f64.ts';
export { computedDoubles, legalizeF64 } from './legalize/soft-f64.ts';
export { expandWideAtomics, replacement, strongAccesses, type WideAtomic, wideForms } from './legalize/wide-atomics.ts';
export { type Line, lineOf, type Reach } from './lines.ts';
export { type ConstantValue, type GivenConstant, givenFor, readFunctionConstants } from './raise/function-constants.ts';
export { describeModule, type RaisedKernel, raiseModule, reflectModule } from './raise/index.ts';
export { readKernels, targetOfModule } from './raise/read-metadata.ts';
export { defaultTarget, hasFences, limits, type Target, type TargetName, targets } from './targets.ts';
export { airRules, validateAir } from './validate/index.ts';
export { windowOf } from './windows.ts';
