/**
 * AIR: LLVM by Apple's conventions, in both directions. Knows the kernel ABI, the `air.*` functions, kernel metadata, what each
 * target can say, and what drivers reject. Knows neither PTX nor the container. Start at `emit.ts` (IR to AIR) and `raise.ts`
 * (AIR to IR); the tables are `inputs.ts`, `intrinsics.ts` and `targets.ts`.
 */
export * from './abi.ts';
export { emitKernel } from './emit.ts';
export { emulatedDoubles, keepExactDoubles } from './emulate-f64.ts';
export { type ConstantValue, type GivenConstant, givenFor, readFunctionConstants } from './function-constants.ts';
export { intrinsicOf } from './intrinsics.ts';
export { computedDoubles } from './legalise-f64.ts';
export { type Line, lineOf, type Reach } from './lines.ts';
export { describeModule, type RaisedKernel, raiseModule, reflectModule } from './raise.ts';
export { readKernels } from './read-metadata.ts';
export { limits, type Target, type TargetName, targets } from './targets.ts';
export { airRules, validateAir } from './validate.ts';
