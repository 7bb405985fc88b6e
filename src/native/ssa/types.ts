/**
 * Functions of WebAssembly in static single assignment form: blocks with parameters, and instructions by their names in the text format.
 *
 * Vectors may be wide: a `v256` has two vectors of 128 bits (parts), a `v512` four. An instruction on wide vectors does in each part what its name says
 * of one vector of 128 bits, so the width of an instruction is that of its types:
 * - a constant has all its bytes, a load and a store move all of them, consecutively;
 * - a splat has its scalar in every lane of every part; so has a load with a splat;
 * - the shuffle and the swizzle have one pattern of 16 bytes for every part, and stay inside it;
 * - the count of a shift is one i32;
 * - `bitmask` has the bits of part 0 lowest (i32); `any_true` and `all_true` are of all lanes;
 * - loads and stores of one lane, `extract_lane`, `replace_lane` and the loads that fill with zeros have no wide form.
 */
import type { ValueType } from '../../wasm/index.ts';

export type SsaType = ValueType | 'v256' | 'v512';

/** The number of a value in its function. */
export type Value = number;

/**
 * Instructions besides those of WebAssembly:
 * - `vector.part` takes the part of number `lane` from a wide vector;
 * - `vector.join` makes a wide vector of two or four v128, or a v512 of two v256;
 * - `vector.words` moves words of 32 bits across parts: `words[i]` is the number of the word of its one operand, or of both operands one behind the other,
 *   that becomes word i of the result;
 * - `vector.widen` makes wide vectors of the lanes of a narrower operand in their order, by the conversion or extension that `kind` names
 *   (`f64x2.promote_low_f32x4`, `f64x2.convert_low_i32x4_s`, `i64x2.extend_low_i32x4_s` and the like): lane i of the result is made of lane i of the operand;
 * - `vector.load32_gather` loads word i of the result from the address that word i of its operand is, `vector.load8_gather` and `vector.load16_gather` a
 *   byte or two, extended by zeros; they trap if one of the addresses is out of bounds;
 * - `vector.load64_gather` loads lane i of 64 bits from the address that word i of its operand is, which has half as many bytes as the result. A v128
 *   has the addresses in the half of number `lane` of a v128.
 */
export type ExtraOp = 'vector.part' | 'vector.join' | 'vector.words' | 'vector.widen' | `vector.load${8 | 16 | 32 | 64}_gather`;

/** Whether an instruction loads each lane from an address of its own. */
export const isGather = (op: string): boolean => op.startsWith('vector.load');

export interface Inst {
  /** The name of the instruction in WebAssembly's text format, or one of `ExtraOp`. */
  readonly op: string;
  args: Value[];
  /** The result; undefined for an instruction without one. */
  readonly result: Value | undefined;
  /** Of a memory access: the constant that is added to the address, an unsigned number of up to 32 bits. */
  readonly offset?: number;
  /** Of an instruction on one lane: its number. */
  readonly lane?: number;
  /** Of a call, `global.get` and `global.set`: the number of the function or global in the module. */
  readonly index?: number;
  /** Of `i32.const`, `i64.const`, `f32.const` and `f64.const`: the bits, as an unsigned number. */
  readonly bits?: bigint;
  /** Of `v128.const`: its bytes, as many as the type of the result has. Of `i8x16.shuffle`: 16 numbers of bytes. */
  readonly bytes?: readonly number[];
  /** Of `vector.words`. */
  readonly words?: readonly number[];
  /** Of `vector.widen`. */
  readonly kind?: string;
}

/** A jump to a block, with the values of its parameters. */
export interface Edge {
  block: number;
  args: Value[];
}

export type End =
  | { readonly op: 'jump'; readonly to: Edge }
  /** Taken where an i32 is not 0. `isRare` says that `then` is seldom taken. */
  | { readonly op: 'branch'; cond: Value; readonly then: Edge; readonly else: Edge; readonly isRare?: boolean }
  /** The edge whose number an i32 is; the last one where it is too large. */
  | { readonly op: 'switch'; index: Value; readonly edges: readonly Edge[] }
  | { readonly op: 'return'; values: Value[] }
  /** `unreachable`. */
  | { readonly op: 'trap' };

export interface Block {
  params: Value[];
  insts: Inst[];
  end: End;
  /** How many loops the block is in. */
  loopDepth: number;
  /** Whether the block is seldom executed. */
  isRare?: boolean;
}

export interface SsaFunction {
  /** The number of the function in its module, imports first. */
  readonly index: number;
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
  /** The type of each value. */
  readonly types: SsaType[];
  /** In an order in which a block follows its immediate dominator; block 0 is the entry, whose parameters are those of the function. */
  blocks: Block[];
}

/** The edges of the end of a block. */
export const edgesOf = (end: End): readonly Edge[] =>
  end.op === 'jump' ? [end.to] : end.op === 'branch' ? [end.then, end.else] : end.op === 'switch' ? end.edges : [];

/** How many edges an end has, and each by its number: what `edgesOf` lists, without a list. */
export const edgeCount = (end: End): number =>
  end.op === 'jump' ? 1 : end.op === 'branch' ? 2 : end.op === 'switch' ? end.edges.length : 0;
export const edgeAt = (end: End, i: number): Edge =>
  end.op === 'jump'
    ? end.to
    : end.op === 'branch'
      ? i === 0
        ? end.then
        : end.else
      : (end as { readonly edges: readonly Edge[] }).edges[i]!;

/** Bytes of a type. */
export const bytesOfType = (type: SsaType): 4 | 8 | 16 | 32 | 64 =>
  ({ i32: 4, f32: 4, i64: 8, f64: 8, v128: 16, v256: 32, v512: 64 })[type] as 4 | 8 | 16 | 32 | 64;

/** The vectors of 128 bits that a vector has. */
export const partsOfType = (type: SsaType): number => Math.max(1, bytesOfType(type) / 16);
