/** Operands of instructions of x86-64, and the assembler that encodes these. */

/** A general register by its number in the encoding: 0 is rax, 1 rcx, 2 rdx, 3 rbx, 4 rsp, 5 rbp, 6 rsi, 7 rdi, then r8 to r15. */
export interface GeneralOperand {
  readonly kind: 'general';
  readonly number: number;
  /** Bytes of it that an instruction uses. */
  readonly bytes: 1 | 2 | 4 | 8;
}

/** A vector register by its number, 0 to 31, of which an instruction uses so many bytes. */
export interface VectorOperand {
  readonly kind: 'vector';
  readonly number: number;
  readonly bytes: 16 | 32 | 64;
}

/** A mask register of AVX-512, 0 to 7. */
export interface MaskOperand {
  readonly kind: 'mask';
  readonly number: number;
}

/**
 * Memory at base + index * scale + displacement; or at a label, relative to the instruction. With `isVectorIndex` the index is a vector register of
 * AVX-512, of which each 32-bit lane is the signed index of one element.
 */
export interface MemoryOperand {
  readonly kind: 'memory';
  readonly base?: number;
  readonly index?: number;
  readonly isVectorIndex?: boolean;
  readonly scale?: 1 | 2 | 4 | 8;
  readonly displacement: number;
  readonly label?: Label;
  /** Bytes of the memory, where neither the mnemonic nor another operand says them: `mov [m], 1`, `movzx eax, [m]`, `vcvtpd2ps xmm0, [m]`. */
  readonly bytes?: 1 | 2 | 4 | 8 | 16 | 32 | 64;
  /** Of AVX-512: the memory has one element, which every lane reads. */
  readonly isBroadcast?: boolean;
}

export interface ImmediateOperand {
  readonly kind: 'immediate';
  readonly value: bigint;
}

export type Operand = GeneralOperand | VectorOperand | MaskOperand | MemoryOperand | ImmediateOperand;

/** A place in the code. */
export interface Label {
  readonly id: number;
}

export const general = (number: number, bytes: 1 | 2 | 4 | 8 = 8): GeneralOperand => ({ kind: 'general', number, bytes });
export const vector = (number: number, bytes: 16 | 32 | 64 = 16): VectorOperand => ({ kind: 'vector', number, bytes });
export const mask = (number: number): MaskOperand => ({ kind: 'mask', number });
export const memory = (base: number, displacement = 0, index?: number, scale: 1 | 2 | 4 | 8 = 1): MemoryOperand => ({
  kind: 'memory',
  base,
  displacement,
  ...(index === undefined ? {} : { index, scale }),
});
/** The same memory, with bytes that an instruction uses of it. */
export const sized = (operand: MemoryOperand, bytes: 1 | 2 | 4 | 8 | 16 | 32 | 64): MemoryOperand => ({ ...operand, bytes });

export const immediate = (value: number | bigint): ImmediateOperand => ({ kind: 'immediate', value: BigInt(value) });

/** The conditions of jumps, `setcc` and `cmovcc`, by their encoding. */
export const conditions = {
  o: 0,
  no: 1,
  b: 2,
  ae: 3,
  e: 4,
  ne: 5,
  be: 6,
  a: 7,
  s: 8,
  ns: 9,
  p: 10,
  np: 11,
  l: 12,
  ge: 13,
  le: 14,
  g: 15,
} as const;
export type Condition = keyof typeof conditions;

/** What a processor has besides the baseline, which is AVX2, FMA, BMI1, BMI2, LZCNT, POPCNT and F16C. */
export interface Features {
  /** AVX-512 F, VL, BW and DQ. */
  readonly avx512: boolean;
  /** Whether gathers are faster than loads of one lane after the other, which only processors with AVX-512 are taken for. */
  readonly fastGathers?: boolean;
}

export interface Assembler {
  readonly features: Features;
  /**
   * An instruction by its mnemonic in Intel's manual (lower case, as `add`, `vpaddd`, `vpternlogd`), with operands in Intel's order, the destination
   * first. Vector instructions are encoded by VEX where that is possible, else by EVEX. Jumps, calls, `setcc` and `cmovcc` have methods of their own.
   */
  emit(mnemonic: string, ...operands: readonly Operand[]): void;
  /** The same under a mask of AVX-512: lanes without a bit of it keep their value, or become 0. */
  emitMasked(mnemonic: string, under: MaskOperand, isZeroing: boolean, ...operands: readonly Operand[]): void;
  newLabel(): Label;
  /** Has a label stand for the next instruction. */
  bind(label: Label): void;
  jump(label: Label): void;
  jumpIf(condition: Condition, label: Label): void;
  call(label: Label): void;
  /** Jumps to the label of the number in a general register, which is below their count; `scratch` is changed. */
  jumpTable(index: number, scratch: number, labels: readonly Label[]): void;
  setIf(condition: Condition, to: number): void;
  moveIf(condition: Condition, to: GeneralOperand, from: GeneralOperand | MemoryOperand): void;
  /** Memory with constant bytes, behind the code; equal bytes are there once. Aligned to their number, at most 64. */
  constant(bytes: readonly number[]): MemoryOperand;
  /** Aligns the next instruction by instructions that do nothing. */
  align(bytes: number): void;
  /** Bytes so far, with every jump as long as it may be and without what aligns; the true number after `finish`. */
  readonly size: number;
  /** The offset of a bound label; final after `finish` only, which shortens jumps. */
  offsetOf(label: Label): number;
  /** The code and its constants; every offset in it is relative, so that it runs at any address that is a multiple of 64. */
  finish(): Uint8Array;
}
