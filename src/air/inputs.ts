/**
 * Kernel inputs other than buffers: the single table for emission, raising and validation. In AIR a thread's position is a function
 * parameter that the kernel metadata names, never a call.
 */
import type { Builder, Sreg, Value } from '../ir/index.ts';

export interface KernelInput {
  /** Metadata name without `air.`. */
  readonly name: string;
  /** The name of the parameter in `air.arg_name`. */
  readonly argName: string;
  /** IR registers by component, or the one register of a scalar input. */
  readonly sregs: readonly Sreg[];
  /** Positions have one to three components; indices are scalar. */
  readonly isPosition: boolean;
  /** Raised but never emitted: an earlier row has the same meaning. */
  readonly isAlias?: boolean;
  /** Computes a component that is no special register. */
  readonly made?: (b: Builder, component: number) => Value;
}

const xyz = (base: string): Sreg[] => ['x', 'y', 'z'].map((axis) => `${base}.${axis}` as Sreg);
const position = (name: string, argName: string, base: string) => ({ name, argName, sregs: xyz(base), isPosition: true });
const index = (name: string, argName: string, sreg: Sreg) => ({ name, argName, sregs: [sreg], isPosition: false });

const compute = (input: KernelInput, make: (b: Builder, component: number) => Value): KernelInput => ({
  ...input,
  isAlias: true,
  made: make,
});
const sreg = (b: Builder, name: Sreg): Value => b.sreg('i32', { name });
/** Threads of a threadgroup. */
const blockSize = (b: Builder): Value =>
  xyz('ntid')
    .map((name) => sreg(b, name))
    .reduce((all, n) => b.mul(all, n));
/** Threads per simdgroup, on every Apple GPU and on the CPU device. */
const simdWidth = 32n;
/** Log2 of the threads per quadgroup: Metal Shading Language Specification, 4.4.1. */
const quadBits = 2n;

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
  compute(position('threads_per_grid', 'size', 'nctaid'), (b, axis) => b.mul(sreg(b, xyz('nctaid')[axis]!), sreg(b, xyz('ntid')[axis]!))),
  compute(index('threads_per_simdgroup', 'width', 'laneid'), (b) => b.const('i32', simdWidth)),
  compute(index('thread_execution_width', 'width', 'laneid'), (b) => b.const('i32', simdWidth)),
  compute(index('thread_index_in_quadgroup', 'quad_lane', 'laneid'), (b) =>
    b.and(sreg(b, 'laneid'), b.const('i32', (1n << quadBits) - 1n)),
  ),
  ...['quadgroups_per_threadgroup', 'dispatch_quadgroups_per_threadgroup'].map((name) =>
    compute(index(name, 'nquads', 'laneid'), (b) =>
      b.lshr(b.add(blockSize(b), b.const('i32', (1n << quadBits) - 1n)), b.const('i32', quadBits)),
    ),
  ),
  compute(index('quadgroup_index_in_threadgroup', 'quad', 'tid.linear'), (b) => b.lshr(sreg(b, 'tid.linear'), b.const('i32', quadBits))),
];

/** The input that provides a special register. */
export const inputOf = (sreg: Sreg): KernelInput => kernelInputs.find((input) => !input.isAlias && input.sregs.includes(sreg))!;
