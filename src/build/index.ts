/**
 * The builder: kernels written in TypeScript, with values and memory that have types. A body is called once; its operations add
 * instructions of PTX, in the syntax tree of the parser, so that whatever reads PTX reads a kernel of the builder: the checker, the compiler,
 * every device, ptxas. Start at `kernel.ts` for a kernel as a whole, `trace.ts` for the state while a body runs, `value.ts` for operations.
 */

export {
  arriveAfterCopies,
  arriveAt,
  arriveExpecting,
  type BarrierPlace,
  type CopyOptions,
  commitBulk,
  commitCopies,
  copyAsync,
  copyBulk,
  endBarrier,
  fenceAsync,
  initBarrier,
  type PlaceIn,
  storeBulk,
  testBarrier,
  tryBarrier,
  waitBulk,
  waitCopies,
} from './async.ts';
export {
  type AtomicOperation,
  type AtomicOptions,
  atomic,
  compareExchange,
  type ExchangeName,
  fence,
  fenceOf,
  reduction,
  syncBarrier,
  syncCount,
  syncThreads,
  syncVote,
} from './atomic.ts';
export { breakLoop, continueLoop, exit, loop, loopWhile, range, repeatWhile, when } from './control.ts';
export type { ConvertOptions } from './convert.ts';
export type { Handle, Operand, Readable } from './handle.ts';
export * from './ids.ts';
export { inline } from './inline.ts';
export { type Body, type KernelLaunch, type KernelOptions, kernel, TypedKernel } from './kernel.ts';
export {
  type Accumulator,
  accumulator,
  asFactor,
  eachElement,
  type Factor,
  type FactorName,
  type FactorOptions,
  type LargeDoubleName,
  loadA,
  loadB,
  mma,
  type StoredOf,
  type SumOf,
  shapes,
  storeHalves,
  toTf32,
} from './matrix.ts';
export {
  type ArrayOf,
  type ArrayOptions,
  constants,
  dynamicShared,
  type Extents,
  globalArray,
  type Indices,
  privateArray,
  shared,
  type Values,
} from './memory.ts';
export { optimizedPtx } from './optimize.ts';
export type {
  CompareOptions,
  CompareOptionsOf,
  DivisionOptions,
  DivisionOptionsOf,
  ExtremeOptions,
  ExtremeOptionsOf,
  FloatOptions,
  ProductOptionsOf,
  Rounding,
  SignOptionsOf,
  SumOptionsOf,
} from './options.ts';
export type { Arguments, Inside, Outside, Parameters, ParameterType } from './parameters.ts';
export {
  Element,
  type Index,
  type Lanes,
  type LoadOptions,
  type MemoryScope,
  Pointer,
  pointerAt,
  type StoreOptions,
  VectorElement,
  VectorPointer,
  type Writable,
} from './pointer.ts';
export {
  type BlockNeeds,
  type LivePlaceOfLine,
  type Multiprocessor,
  multiprocessors,
  type Occupants,
  occupantsOf,
  type RegisterReport,
  registersOf,
} from './pressure.ts';
export { type BlockReduceOptions, blockReduce } from './reduce.ts';
export { assert, printf, trap } from './report.ts';
export type { Block } from './shape.ts';
export type { Target } from './targets.ts';
export {
  type LoadTileOptions,
  loadTile,
  type MatrixIn,
  mayNeed,
  type PipelineOptions,
  pipeline,
  sharedTile,
  Tile,
  type TileOptions,
} from './tile.ts';
export {
  type BitwiseName,
  b8,
  b16,
  b32,
  b64,
  bf16,
  bf16x2,
  type FloatName,
  f16,
  f16x2,
  f32,
  f64,
  type IndexName,
  type IntegerName,
  type MemoryName,
  type NarrowName,
  type NumberName,
  type PairName,
  type PointerOptions,
  type PointerType,
  pred,
  ptr,
  type Space,
  s8,
  s16,
  s32,
  s64,
  type Type,
  type TypeName,
  u8,
  u16,
  u32,
  u64,
  type VectorPointerType,
  type VectorType,
  v2,
  v4,
} from './types.ts';
export { constant, local, type SameWidth, type Typed, Value, Variable } from './value.ts';
export { pack, Vector, vector } from './vector.ts';
export * from './warp.ts';
export {
  commitGroup,
  eachGroupElement,
  type GroupAccumulator,
  type GroupFactorName,
  type GroupLayout,
  type GroupMmaOptions,
  type GroupSwizzle,
  groupAccumulator,
  groupDepth,
  groupDescriptor,
  groupFence,
  groupMma,
  waitGroup,
} from './warp-group.ts';
