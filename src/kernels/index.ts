/**
 * The library: kernels made with `src/build`, each once for a type and options, with sizes that are given at run time. Start at `routine.ts` for
 * what a routine is; each other file has the routines of one kind.
 */
export { attention } from './attention.ts';
export { type AttentionBackwardArguments, type AttentionBackwardOptions, attentionBackward } from './attention-backward.ts';
export type { AttentionArguments, AttentionOptions } from './attention-plan.ts';
export { type TensorAttentionOptions, tensorAttention } from './attention-tensor.ts';
export type { Joined, Joining, Reduced } from './combine.ts';
export {
  type ConvolutionArguments,
  type ConvolutionBackwardArguments,
  type ConvolutionOptions,
  convolution,
  convolutionBackward,
} from './convolution.ts';
export { type ConvolutionShape, convolutionSize } from './convolution-shape.ts';
export { type FormatName, formats, normalFloat } from './formats.ts';
export { type Activation, activations, derivatives, normalDistribution, sigmoid } from './functions.ts';
export { gemm } from './gemm.ts';
export { cpuGemm } from './gemm-cpu.ts';
export { type DoubleGemmOptions, type DoubleMma, type DoubleTile, doubleGemm } from './gemm-double.ts';
export type { GemmArguments, GemmOptions, GemmResult, GemmSum, GemmType, HalfType } from './gemm-plan.ts';
export { type SingleGemmOptions, type SingleTile, singleGemm } from './gemm-single.ts';
export { type TensorGemmOptions, type TensorTile, tensorGemm } from './gemm-tensor.ts';
export { type RoundedGemmOptions, type RoundedTile, tf32Gemm } from './gemm-tf32.ts';
export { type Counted, type HistogramArguments, histogram } from './histogram.ts';
export { type LoraArguments, type LoraBackwardArguments, lora, loraBackward } from './lora.ts';
export { gather, type Moved, transpose } from './move.ts';
export { layerNorm, layerNormBackward, type NormOptions, normWeightsBackward, rmsNorm, rmsNormBackward } from './norm.ts';
export { type AdamArguments, adam } from './optimizer.ts';
export { activation, activationBackward, biasAdd, binary } from './pointwise.ts';
export { Procedure } from './procedure.ts';
export { dequantize, quantizedGemm } from './quantized.ts';
export type { QuantizedArguments } from './quantized-blocks.ts';
export type { CodesName } from './quantized-codes.ts';
export { quantizedCpuGemm } from './quantized-cpu.ts';
export { type QuantizedTensorArguments, type QuantizedTile, quantizedTensorGemm } from './quantized-tensor.ts';
export { quantizedTileGemm } from './quantized-tiles.ts';
export { argmax, argmin, type ReduceArguments, reduce } from './reduce.ts';
export { type RopeOptions, rope, ropeTables } from './rope.ts';
export { type Floating, type Plan, Routine, type RoutineLaunch, type TypeOption } from './routine.ts';
export type { RowOptions } from './row.ts';
export { exclusiveScan, inclusiveScan, type ScanArguments, type ScanOptions } from './scan.ts';
export {
  type CompactArguments,
  type CompactBackwardArguments,
  compact,
  compactBackward,
  type GatherBackwardArguments,
  gatherBackward,
  masked,
} from './select.ts';
export { crossEntropy, crossEntropyBackward, type Rows, type SoftmaxOptions, softmax, softmaxBackward } from './softmax.ts';
export {
  type PairArguments,
  type PairOptions,
  radixSort,
  radixSortPairs,
  type SortAlgorithm,
  type SortArguments,
  type SortKey,
  type SortOptions,
  type SortValue,
} from './sort.ts';
export { parseTables, type Speeds, type TuningTable, tablesText, useTable } from './tables.ts';
export { type Measured, type TuneOptions, tune } from './tune.ts';
export { type TunedType, tunedTypes } from './tuned-types.ts';
