/**
 * The IR's data: a module of kernels, a kernel of basic blocks, instructions as plain objects in a union derived from the op
 * table. A `Value` is the index of its instruction in `Kernel.insts`; whatever else is known of a value lives in side arrays
 * that an analysis makes and throws away.
 */
import type { Span } from '../base/source.ts';
import type { Op, ops } from './ops.ts';
import type { Service } from './services.ts';
import type { ScalarType, Space, Type } from './types.ts';

declare const valueBrand: unique symbol;
/** Index of the defining instruction in `Kernel.insts`. */
export type Value = number & { readonly [valueBrand]: 'Value' };

type Args<K extends Op> = { [A in keyof (typeof ops)[K]['args']]: Value };
type Attrs<K extends Op> = (typeof ops)[K] extends { attrs: infer A } ? { -readonly [P in keyof A]: A[P] } : unknown;

/** `switch (inst.op)` narrows to the op's own operands and attributes. */
export type Inst = { [K in Op]: { op: K; type: Type } & Args<K> & Attrs<K> }[Op];
export type InstOf<K extends Op> = Extract<Inst, { op: K }>;

/** A jump with the values for the target's parameters. */
export interface Edge {
  block: Block;
  args: Value[];
}

export type Terminator = { op: 'br'; to: Edge } | { op: 'condbr'; cond: Value; then: Edge; else: Edge } | { op: 'ret' };

export interface Block {
  /** Position in `Kernel.blocks`; `renumber` restores it after blocks came or went. */
  id: number;
  /** The label in the source, for messages and text. */
  label?: string;
  params: Value[];
  body: Value[];
  end: Terminator;
  /** The place of the terminator in the source. */
  endLoc?: Span | undefined;
}

export interface KernelParam {
  name: string;
  /** `value`: bytes handed over by value; `pointer`: a buffer bound to a slot; `threadgroup`: dynamic shared memory. */
  kind: 'value' | 'pointer' | 'threadgroup';
  /** The space a pointer parameter points into. */
  space: 'global' | 'constant' | 'shared' | 'param';
  /** Bytes of a value; of one element for a pointer. */
  size: number;
  align: number;
  /** Buffer slot (threadgroup slot for `threadgroup`). */
  slot: number;
  /** The element type by which a buffer is accessed, or the type of a scalar; unknown for structs and mixed accesses. */
  element: ScalarType | undefined;
  /** The sign with which integer elements are described to people. */
  signed: boolean;
  access: 'read' | 'write' | 'read_write' | undefined;
  span?: Span | undefined;
  /** Of a parameter that no caller hands over: it points to the module's own memory, which outlives launches. */
  memory?: ModuleMemory;
  /** Of another hidden parameter: the reasons, numbered from 1, for which a kernel stops itself; it leaves the number in its fault word. */
  faults?: readonly string[];
  /** Of a value that holds the values of several parameters of the source: where each is. */
  packed?: readonly PackedValue[];
  /** Of another: the formats of printed records, by number; the parameter points to the print buffer (`print-buffer.ts`). */
  formats?: readonly string[];
  /** Of another: the parameter points to the lock table of 64-bit atomics (`lock-table.ts`). */
  locks?: true;
  /** Of another: a service of the CPU device (`services.ts`). */
  service?: Service;
}

/** A parameter of the source within a value that holds several. */
export interface PackedValue {
  readonly name: string;
  /** Among the parameters of the source. */
  readonly position: number;
  /** Bytes from the start of the value. */
  readonly offset: number;
  readonly size: number;
  readonly align: number;
  /** As of a parameter by itself. */
  readonly element: ScalarType | undefined;
  readonly signed: boolean;
}

/** The name of the parameter that holds the values of several. */
export const packedValuesName = 'cumetal.values';

/** Whether a parameter is one that no caller hands over. */
export const isHidden = ({ memory, faults, formats, locks, service }: KernelParam): boolean =>
  memory !== undefined || faults !== undefined || formats !== undefined || locks !== undefined || service !== undefined;

/** Adds a hidden parameter in the first free slot; gives its index. A caller has to check whether there is such a slot. */
export function addHiddenParam(
  kernel: Kernel,
  what: Pick<KernelParam, 'name' | 'size' | 'align' | 'element' | 'memory' | 'faults' | 'formats' | 'locks' | 'service'>,
): number {
  const slot = kernel.params.length;
  kernel.params.push({ ...what, kind: 'pointer', space: 'global', slot, signed: false, access: 'read_write' });
  return slot;
}

/** The name of the parameter that points to the fault word. */
export const faultWordName = 'cumetal.faults';

/** The name of the parameter that points to the module's own memory. */
export const moduleMemoryName = 'cumetal.globals';

/** The variables of a module that a host reaches by name, all in one block; kernels of one module share it. */
export interface ModuleMemory {
  /** Bytes. */
  readonly size: number;
  readonly align: number;
  readonly symbols: readonly ModuleSymbol[];
  /** Of a module that becomes PTX again: each variable is `apartBytes` from the one before it, so that a constant offset says which one it is from. */
  readonly isApart?: true;
}

/** More than twice the bytes of any variable. */
export const apartBytes = 2 ** 36;

export interface ModuleSymbol {
  readonly name: string;
  /** Bytes from the start of the block. */
  readonly offset: number;
  readonly size: number;
  /** Initial bytes; zeros where there are none. */
  readonly init: Uint8Array | undefined;
  /** Of a variable apart from others, whose place says nothing: what its address is a multiple of. */
  readonly align?: number;
  /** Whether it is declared in constant memory. */
  readonly isConst?: true;
  /** The 64-bit addresses in its initial bytes: `at` in bytes from its start, `to` in bytes from the start of the block. */
  readonly addresses?: readonly { readonly at: number; readonly to: number }[];
}

/** Memory that the kernel itself declares. */
export interface Variable {
  name: string;
  space: Extract<Space, 'shared' | 'constant' | 'local'>;
  /** Bytes; 0 for dynamic shared memory, whose size is part of the launch. */
  size: number;
  align: number;
  isDynamic: boolean;
  /** Initial bytes, for constants. */
  init: Uint8Array | undefined;
  /** The type by which it is accessed, where that is one. */
  element: ScalarType | undefined;
  /** Of a kernel that becomes PTX again: whether other kernels and functions of the module have it too. */
  isOfModule?: true;
}

/**
 * Code without effects that a kernel calls: straight code by `call1` to `call3`, or for a form of `mma`, and code that reads global memory by `fetch`. The
 * parameters of the first block are the operands, and the block that returns follows the definition of the result.
 */
export interface PureFunction {
  readonly body: Kernel;
  readonly result: Value;
  /** Whether no result is subnormal. */
  readonly isFlushed?: true;
  /** Of an instruction of PTX: the first version of the language and the first architecture with it. */
  readonly since?: { readonly ptx: number; readonly sm: number };
}

/** What the source says of clusters. */
export interface ClusterRules {
  /** Blocks of a cluster along x, y and z (`.reqnctapercluster`). */
  readonly required?: readonly [number, number, number];
  /** Whether a launch has to say how large they are (`.explicitcluster`). */
  readonly isExplicit?: true;
  /** The most blocks (`.maxclusterrank`). */
  readonly most?: number;
  /** Of a kernel that a device runs with a whole cluster as one block: what the source says of its blocks. */
  readonly group?: GroupRules;
}

/** The blocks of a source whose clusters are single blocks of the device. */
export interface GroupRules {
  /** Bytes of static shared memory of a block. */
  readonly sharedBytes: number;
  /** Whether threads of a warp act together, so that a block has to be whole warps. */
  readonly isOfWarps: boolean;
  /** Whether a block has dynamic shared memory, so that a launch has to say how much. */
  readonly isDynamic: boolean;
  readonly requiredThreads?: readonly [number, number, number];
  readonly maxThreads?: number;
}

/**
 * The rules as numbers: blocks along x, y and z, or zeros; 1 if a launch has to say; the most blocks, or 0. With a group, further ones: bytes of shared
 * memory; the sum of 1 for whole warps and 2 for dynamic shared memory; required threads along x, y and z, or zeros; the most threads, or 0.
 */
export const clusterNumbers = ({ required = [0, 0, 0], isExplicit, most = 0, group }: ClusterRules): number[] => [
  ...required,
  isExplicit ? 1 : 0,
  most,
  ...(group ? groupNumbers(group) : []),
];

const groupNumbers = ({ sharedBytes, isOfWarps, isDynamic, requiredThreads = [0, 0, 0], maxThreads = 0 }: GroupRules): number[] => [
  sharedBytes,
  (isOfWarps ? 1 : 0) + (isDynamic ? 2 : 0),
  ...requiredThreads,
  maxThreads,
];

/** How many numbers `clusterNumbers` gives without and with a group. */
export const clusterNumberCounts = { plain: 5, grouped: 11 } as const;

/** The rules of `clusterNumbers`. */
export function clusterOf([x = 0, y = 0, z = 0, isExplicit, most = 0, ...group]: readonly number[]): ClusterRules {
  return {
    ...(x > 0 ? { required: [x, y, z] as const } : {}),
    ...(isExplicit === 1 ? { isExplicit: true as const } : {}),
    ...(most > 0 ? { most } : {}),
    ...(group.length > 0 ? { group: groupOf(group) } : {}),
  };
}

const groupOf = ([sharedBytes = 0, flags = 0, x = 0, y = 0, z = 0, maxThreads = 0]: readonly number[]): GroupRules => ({
  sharedBytes,
  isOfWarps: (flags & 1) !== 0,
  isDynamic: (flags & 2) !== 0,
  ...(x > 0 ? { requiredThreads: [x, y, z] as const } : {}),
  ...(maxThreads > 0 ? { maxThreads } : {}),
});

export interface Kernel {
  name: string;
  params: KernelParam[];
  variables: Variable[];
  /** The first is the entry block; it has no parameters and no predecessors. */
  blocks: Block[];
  insts: Inst[];
  /** The place of each instruction in the source; absent for those that the compiler made. */
  locs: (Span | undefined)[];
  maxThreads: number | undefined;
  requiredThreads: readonly [number, number, number] | undefined;
  /** Of a kernel whose blocks run in clusters. */
  cluster?: ClusterRules;
  /** Whether some instructions have other forms than for the CPU device, whose own are better there. */
  isAdapted?: true;
  /**
   * By name. AIR emission makes them, and reading AIR puts their bodies in the place of the calls. Kernels that are printed as PTX have them for
   * instructions that stay what they are.
   */
  functions?: ReadonlyMap<string, PureFunction>;
  /** Of a kernel that was read from AIR: whether it has bodies with branches in the place of calls, where no pass saw them before. */
  hasInlined?: true;
  /** Of a kernel that becomes PTX again: the functions that it and they call, by name. */
  callees?: ReadonlyMap<string, Kernel>;
  /** Of such a function: its declaration in PTX. It ends with `ret` where it returns. */
  head?: string;
  /**
   * Its presence puts the kernel in the narrowed dialect (`dialect.ts`): the pointers that have 64 bits all the same. It is part of the kernel
   * and no side array of an analysis, since it decides what `ptradd`, `ptrtoint` and `inttoptr` mean.
   */
  widePointers?: ReadonlySet<Value>;
}

export interface Module {
  kernels: Kernel[];
}

/** The instruction that defines a value. */
export const instOf = (kernel: Kernel, value: Value): Inst => kernel.insts[value]!;
/** The bits of a constant; nothing for other values. */
export function constantOf({ insts }: Kernel, value: Value): bigint | undefined {
  const inst = insts[value]!;
  return inst.op === 'const' ? inst.bits : undefined;
}
/** The type of a value. */
export const typeOf = (kernel: Kernel, value: Value): Type => kernel.insts[value]!.type;

/** The jumps out of a block, in order. */
export function edgesOf(end: Terminator): Edge[] {
  return end.op === 'br' ? [end.to] : end.op === 'condbr' ? [end.then, end.else] : [];
}

/** Gives blocks their positions as ids. */
export function renumber(kernel: Kernel): void {
  kernel.blocks.forEach((block, id) => {
    block.id = id;
  });
}
