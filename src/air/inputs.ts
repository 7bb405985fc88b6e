/**
 * Kernel inputs that are not buffers: the one table from which emission, raising and validation take them. In AIR a thread's
 * position is a function parameter that the kernel metadata names, never a call.
 */
import type { Sreg } from '../ir/index.ts';

export interface KernelInput {
  /** Metadata name without `air.`. */
  readonly name: string;
  /** What the parameter is called in `air.arg_name`. */
  readonly argName: string;
  /** IR registers by component, or the one register of a scalar input. */
  readonly sregs: readonly Sreg[];
  /** Positions come as a scalar or in two or three components; indices only as a scalar. */
  readonly isPosition: boolean;
  /** Only read from other people's files: an earlier row says the same. */
  readonly isAlias?: boolean;
}

const xyz = (base: string): Sreg[] => ['x', 'y', 'z'].map((axis) => `${base}.${axis}` as Sreg);
const position = (name: string, argName: string, base: string) => ({ name, argName, sregs: xyz(base), isPosition: true });
const index = (name: string, argName: string, sreg: Sreg) => ({ name, argName, sregs: [sreg], isPosition: false });

/** Source: kernel metadata of Apple-compiled modules and of a2flo/floor; GPUCompiler.jl `src/metal.jl`. */
export const kernelInputs: readonly KernelInput[] = [
  position('thread_position_in_grid', 'gid', 'gid'),
  position('thread_position_in_threadgroup', 'tid', 'tid'),
  position('threadgroup_position_in_grid', 'ctaid', 'ctaid'),
  position('threads_per_threadgroup', 'ntid', 'ntid'),
  { ...position('dispatch_threads_per_threadgroup', 'ntid', 'ntid'), isAlias: true },
  position('threadgroups_per_grid', 'nctaid', 'nctaid'),
  index('thread_index_in_threadgroup', 'tindex', 'tid.linear'),
  index('thread_index_in_simdgroup', 'laneid', 'laneid'),
  index('simdgroup_index_in_threadgroup', 'warpid', 'warpid'),
  index('simdgroups_per_threadgroup', 'nwarpid', 'nwarpid'),
  { ...index('dispatch_simdgroups_per_threadgroup', 'nwarpid', 'nwarpid'), isAlias: true },
];

/** The input that holds a special register. */
export const inputOf = (sreg: Sreg): KernelInput => kernelInputs.find((input) => !input.isAlias && input.sregs.includes(sreg))!;
