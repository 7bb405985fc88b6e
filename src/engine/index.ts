/**
 * The engine: compiles a kernel of the IR to WebAssembly. Two compilers share `codegen/`: `scalar/` runs one thread after the other and takes
 * every kernel, `simd/` vectorizes a block into lane groups. The room knows no container, no launch and no instrument: a device hands in
 * instrumentation through the interfaces of `codegen/hooks.ts` and `simd/lanes/hooks.ts`. Start at `README.md`.
 */

export { type AlignmentFacts, checkAlignment } from './codegen/check-alignment.ts';
export type { Instrumentation } from './codegen/hooks.ts';
export { insertYields } from './codegen/insert-yields.ts';
export { type Plan, windowsOf } from './codegen/plan.ts';
export { type Collective, hasStates, type Region, type Regions, type Rendezvous, regionsOf } from './codegen/regions.ts';
export { splitAtSyncPoints, syncPointsOf } from './codegen/split-at-sync-points.ts';
export type { Target } from './codegen/target.ts';
export { compileKernel } from './scalar/kernel-module.ts';
export { expandMatmul } from './scalar/matmul.ts';
export { poolStart } from './simd/analysis/plan.ts';
export { compileSimd, type SimdModule } from './simd/emit/module.ts';
export type { MemoryFacts } from './simd/transform/check-addresses.ts';
export { firstTransforms, neededChecks } from './simd/transform/transforms.ts';
