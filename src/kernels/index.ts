/**
 * The library: kernels made with `src/build`, each once for a type and options, with sizes that are given at run time. Start at `routine.ts` for
 * what a routine is; each other file has the routines of one kind.
 */
export { type AttentionArguments, type AttentionOptions, attention } from './attention.ts';
export { type FormatName, formats, normalFloat } from './formats.ts';
export { type Activation, activations, derivatives, normalDistribution, sigmoid } from './functions.ts';
export { type GemmArguments, type GemmOptions, type GemmResult, type GemmSum, type GemmType, gemm } from './gemm.ts';
export { gather, type Moved, transpose } from './move.ts';
export { layerNorm, layerNormBackward, type NormOptions, normWeightsBackward, rmsNorm, rmsNormBackward } from './norm.ts';
export { type AdamArguments, adam } from './optimizer.ts';
export { activation, activationBackward, biasAdd, binary } from './pointwise.ts';
export { dequantize, type QuantizedArguments, quantizedGemm } from './quantized.ts';
export { type RopeOptions, rope, ropeTables } from './rope.ts';
export { type Floating, type Plan, Routine, type RoutineLaunch, type TypeOption } from './routine.ts';
export type { RowOptions } from './row.ts';
export { crossEntropy, crossEntropyBackward, type Rows, type SoftmaxOptions, softmax, softmaxBackward } from './softmax.ts';
