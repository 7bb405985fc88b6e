/**
 * Launches: the arguments of a kernel, its results, and their comparison with expected ones. The room knows element types, argument
 * specifications, `.npy`, launch files, binding and the rule of comparison. It does not know devices, PTX, the file system (which is passed in
 * as `Io`) or the terminal. Start at `launch.ts` and `argument.ts`.
 */
export type { ArgumentSpec, Expectation, Problem, Tolerance } from './argument.ts';
export { isProblem, parseArgument, parseValue } from './argument.ts';
export type { HostArgument } from './bind.ts';
export { bindArguments } from './bind.ts';
export type { Comparison } from './compare.ts';
export { compareElements } from './compare.ts';
export type { Contents } from './contents.ts';
export { describe, greyPicture, readContents, writeContents } from './contents.ts';
export { fillPlan } from './default-launch.ts';
export type { Difference, Mismatch } from './diff.ts';
export { compareOutcomes } from './diff.ts';
export type { ElementType, ElementValue, Kernel, Parameter } from './element.ts';
export {
  decodeElements,
  elementCount,
  elements,
  elementTypes,
  encodeValue,
  formatValue,
  integerRange,
  isElementType,
  viewOf,
} from './element.ts';
export type { Io, IoFailure } from './io.ts';
export { areWritable, folderOf, pathFrom, readBytes, writeBytes } from './io.ts';
export type { Check, LaunchOptions, LaunchOutcome, Output } from './launch.ts';
export { checkOutput, chooseKernel, launch, lengthOf } from './launch.ts';
export type { LaunchFile, LaunchFileOptions } from './launch-file.ts';
export { readLaunchFile } from './launch-file.ts';
export { type LaunchWord, launchWords, splitWords } from './launch-lines.ts';
export type { NpyArray } from './npy.ts';
export { readNpy, writeNpy } from './npy.ts';
export type { FullPlan, LaunchPlan } from './plan.ts';
export type { Init } from './rand.ts';
export { initialContents, splitMix64 } from './rand.ts';
export { type Reach, reached } from './reach.ts';
