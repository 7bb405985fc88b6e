/**
 * The IR: typed SSA with block parameters, between PTX and AIR in both directions. This room knows neither PTX nor LLVM.
 * Start at `ops.ts` (the operations), then `kernel.ts` (the data structures); `docs/ir.md` defines their meaning.
 */
export * from './analysis/index.ts';
export * from './build.ts';
export * from './copy.ts';
export * from './dialect.ts';
export * from './eval.ts';
export * from './folds.ts';
export * from './kernel.ts';
export * from './lock-table.ts';
export * from './mbarrier.ts';
export * from './memory.ts';
export * from './mma.ts';
export * from './operands.ts';
export * from './ops.ts';
export { parseModule } from './parse.ts';
export { type AfterPass, observers, type Pass } from './pass.ts';
export {
  answerForZero,
  carryShuffles,
  cleanupCfg,
  costPasses,
  cse,
  dce,
  divergentMasks,
  dropParams,
  type EndStuck,
  flattenBranches,
  hasMasks,
  hoistInvariants,
  instructionPasses,
  invertComparison,
  isMasked,
  type MaskedInst,
  type MaskOptions,
  mergeCollectives,
  optimize,
  recoverPointers,
  rendezvousLoop,
  replaceAll,
  replaceAllMasks,
  replaceMasks,
  runPass,
  runPasses,
  type Substitution,
  simplify,
  standardPasses,
  substitute,
  substitution,
} from './passes/index.ts';
export * from './print.ts';
export * from './print-buffer.ts';
export * from './services.ts';
export * from './sregs.ts';
export * from './texture.ts';
export { countGlobal, countShared, type GlobalAccesses, type SharedAccesses, sectorBytes, type Touched } from './transactions.ts';
export * from './types.ts';
export { verify, verifyAfterPass, verifyModule } from './verify/index.ts';
