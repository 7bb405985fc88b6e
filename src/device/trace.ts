/** The trace of one thread of a launch on the CPU device. */

import type { Dim3 } from '../base/dim3.ts';
import type { SourceFile } from '../base/source.ts';

/** A request to trace one thread of a launch. */
export interface TraceRequest {
  /** The block, and the thread within it: by three numbers, or by a linear one, x fastest. */
  readonly block: number | Dim3;
  readonly thread: number | Dim3;
  /** Most instructions that are kept; the rest are counted. 5000 by default. */
  readonly limit?: number;
  /** The PTX text that the metallib was made from, for the text of instructions. */
  readonly source?: SourceFile;
  /** Receives the trace after the launch has ended or failed. */
  readonly take: (trace: Trace) => void;
}

/** What one thread of a launch has executed. */
export interface Trace {
  readonly kernel: string;
  readonly block: Dim3;
  readonly thread: Dim3;
  readonly steps: readonly TraceStep[];
  /** All instructions that the thread executed. */
  readonly count: number;
}

/** An instruction of the source, or a part of one that passes have moved away. */
export interface TraceStep {
  /** From 1 on; 0 if the metallib has no line. */
  readonly line: number;
  readonly column: number;
  readonly file: string;
  /** The instruction in the source; empty if unknown. */
  readonly text: string;
  /** Whether the instruction starts here. */
  readonly isStart: boolean;
  /** The operations of the instruction that are computed at run time. */
  readonly operations: readonly TraceOperation[];
}

/** One operation with the values of its operands and its result. */
export interface TraceOperation {
  /** The op of the IR, with its type: `fma f32`. */
  readonly what: string;
  readonly operands: readonly TraceValue[];
  readonly result: TraceValue | undefined;
}

/** The value of an operand or a result. */
export interface TraceValue {
  readonly type: string;
  /** The bits of each lane of a vector; one element for other values. */
  readonly bits: readonly bigint[];
  /** For a pointer: the buffer or variable, and the offset in it. */
  readonly place?: string;
}
