/** What one thread of a launch executed, as the CPU device saw it. */

import type { Dim3 } from '../base/dim3.ts';
import type { SourceFile } from '../base/source.ts';

export interface TraceRequest {
  /** The block, and the thread in it: by three numbers, or by one, x running fastest. */
  readonly block: number | Dim3;
  readonly thread: number | Dim3;
  /** Instructions that are kept; the rest are counted. 5000 where nothing is said. */
  readonly limit?: number;
  /** The PTX text that the metallib was made from, for the text of instructions. */
  readonly source?: SourceFile;
  /** Takes the trace when the launch has ended or failed. */
  readonly take: (trace: Trace) => void;
}

export interface Trace {
  readonly kernel: string;
  readonly block: Dim3;
  readonly thread: Dim3;
  readonly steps: readonly TraceStep[];
  /** Instructions that the thread executed in all. */
  readonly count: number;
}

/** An instruction of the source, or a part of one that is done apart from it. */
export interface TraceStep {
  /** From 1 on; 0 where the metallib does not say. */
  readonly line: number;
  readonly column: number;
  readonly file: string;
  /** The instruction as the source has it; empty where that is not known. */
  readonly text: string;
  /** Whether the instruction starts here. */
  readonly isStart: boolean;
  /** What the compiler made of it that is computed at run time. */
  readonly operations: readonly TraceOperation[];
}

export interface TraceOperation {
  /** The op of the IR, with its type: `fma f32`. */
  readonly what: string;
  readonly operands: readonly TraceValue[];
  readonly result: TraceValue | undefined;
}

export interface TraceValue {
  readonly type: string;
  /** Of each lane of a vector; one of all else. */
  readonly bits: readonly bigint[];
  /** Of a pointer: where in which buffer or variable. */
  readonly place?: string;
}
