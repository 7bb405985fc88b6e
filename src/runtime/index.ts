/**
 * Launches: what a kernel is given, what comes back, and whether it is right. The room knows element types, argument words,
 * `.npy`, launch files, binding and the comparison rule; it does not know how a device runs a kernel, nor PTX, nor files
 * (they are handed in as `Io`), nor the terminal. Start at `launch.ts`; `argument.ts` holds the union everything turns on.
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
  isElementType,
  viewOf,
} from './element.ts';
export type { Io, IoFailure } from './io.ts';
export { folderOf, pathFrom, readBytes, writeBytes } from './io.ts';
export type { Check, LaunchOptions, LaunchOutcome, Output } from './launch.ts';
export { checkOutput, chooseKernel, launch, lengthOf } from './launch.ts';
export type { LaunchFile } from './launch-file.ts';
export { readLaunchFile } from './launch-file.ts';
export { launchWords, splitWords } from './launch-lines.ts';
export type { NpyArray } from './npy.ts';
export { readNpy, writeNpy } from './npy.ts';
export type { FullPlan, LaunchPlan } from './plan.ts';
export type { Init } from './rand.ts';
export { initialContents, splitMix64 } from './rand.ts';
