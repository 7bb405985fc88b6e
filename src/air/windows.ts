/**
 * Windows: all shared (or constant, or local) variables of a kernel, laid out in one block of memory, so that an integer address of PTX is
 * an offset in it. Apple's drivers also work best with one threadgroup global per kernel.
 */
import { alignUp } from '../base/bytes.ts';
import { accessOf, bytesOf, type Kernel, type ScalarType, type Variable } from '../ir/index.ts';

export type WindowSpace = Variable['space'];

export interface Window {
  readonly space: WindowSpace;
  /** Byte offset of each variable; dynamic shared memory follows the static one. */
  readonly offsets: ReadonlyMap<string, number>;
  /** Bytes of static memory. */
  readonly size: number;
  readonly align: number;
  /** The offset of dynamic shared memory, if the kernel has it. */
  readonly dynamicOffset: number | undefined;
  /** The element type of the window. */
  readonly element: ScalarType;
  /** Initial bytes of a constant window. */
  readonly init: Uint8Array | undefined;
}

/** Lays out the variables of one space; undefined if there are none. */
export function windowOf(kernel: Kernel, space: WindowSpace): Window | undefined {
  const variables = kernel.variables.filter((v) => v.space === space);
  if (variables.length === 0) return undefined;
  const offsets = new Map<string, number>();
  let size = 0;
  for (const v of variables.filter((each) => !each.isDynamic)) {
    offsets.set(v.name, alignUp(size, v.align));
    size = alignUp(size, v.align) + v.size;
  }
  const dynamic = variables.filter((v) => v.isDynamic);
  // Copies of tensors need dynamic memory where it says that it starts, which is behind the static one.
  const dynamicAlign = Math.max(16, ...dynamic.map((v) => v.align));
  if (dynamicAlign > 16) size = alignUp(size, dynamicAlign);
  const dynamicOffset = dynamic.length > 0 ? alignUp(size, 16) : undefined;
  for (const v of dynamic) offsets.set(v.name, dynamicOffset!);
  const element = accessedAs(kernel, space);
  const unit = bytesOf(element);
  const align = Math.max(unit, ...variables.map((v) => v.align));
  return {
    space,
    offsets,
    size: alignUp(size, unit),
    align,
    dynamicOffset,
    element,
    init: initialBytes(variables, offsets, alignUp(size, unit)),
  };
}

function initialBytes(variables: readonly Variable[], offsets: ReadonlyMap<string, number>, size: number): Uint8Array | undefined {
  if (variables[0]!.space !== 'constant') return undefined;
  const bytes = new Uint8Array(size);
  for (const v of variables) if (v.init) bytes.set(v.init, offsets.get(v.name)!);
  return bytes;
}

/** The scalar type of all accesses to a space, or an integer of the smallest access width if they differ. */
function accessedAs(kernel: Kernel, space: WindowSpace): ScalarType {
  const seen = new Set<ScalarType>();
  for (const block of kernel.blocks)
    for (const value of block.body) {
      const access = accessOf(kernel, kernel.insts[value]!);
      if (access && kernel.insts[access.addr]!.type === `ptr.${space}`) seen.add(access.element);
    }
  if (seen.size === 1) return [...seen][0]!;
  const narrowest = Math.min(...[...seen].map(bytesOf));
  return narrowest === 1 ? 'i8' : narrowest === 2 ? 'i16' : 'i32';
}
