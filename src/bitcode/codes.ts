/**
 * Numbers of opcodes, predicates, linkages and flags in records.
 * Source: `llvm/Bitcode/LLVMBitCodes.h` of LLVM 14.
 */
import type { AtomicOperation, BinaryOpcode, CastOpcode, Linkage, MemoryOrder, Predicate, UnnamedAddr, Visibility } from './model.ts';

const inverse = <K extends string>(table: Record<K, number>): ReadonlyMap<number, K> =>
  new Map(Object.entries(table).map(([k, v]) => [v as number, k as K]));

/** Numbers of binary opcodes in records; integer and float forms share numbers. */
export const binaryCodes: Record<BinaryOpcode, number> = {
  add: 0,
  sub: 1,
  mul: 2,
  udiv: 3,
  sdiv: 4,
  urem: 5,
  srem: 6,
  shl: 7,
  lshr: 8,
  ashr: 9,
  and: 10,
  or: 11,
  xor: 12,
  fadd: 0,
  fsub: 1,
  fmul: 2,
  fdiv: 4,
  frem: 6,
};
const intOpcodes = ['add', 'sub', 'mul', 'udiv', 'sdiv', 'urem', 'srem', 'shl', 'lshr', 'ashr', 'and', 'or', 'xor'] as const;
const floatOpcodes: Readonly<Record<number, BinaryOpcode>> = { 0: 'fadd', 1: 'fsub', 2: 'fmul', 4: 'fdiv', 6: 'frem' };

/** The opcode with a number, for operands of integer or float type. */
export const binaryOpcode = (code: number, isFloat: boolean): BinaryOpcode | undefined => (isFloat ? floatOpcodes[code] : intOpcodes[code]);

export const castCodes: Record<CastOpcode, number> = {
  trunc: 0,
  zext: 1,
  sext: 2,
  fptoui: 3,
  fptosi: 4,
  uitofp: 5,
  sitofp: 6,
  fptrunc: 7,
  fpext: 8,
  ptrtoint: 9,
  inttoptr: 10,
  bitcast: 11,
  addrspacecast: 12,
};
export const castOpcodes = inverse(castCodes);

export const predicateCodes: Record<Predicate, number> = {
  false: 0,
  oeq: 1,
  ogt: 2,
  oge: 3,
  olt: 4,
  ole: 5,
  one: 6,
  ord: 7,
  uno: 8,
  ueq: 9,
  fugt: 10,
  fuge: 11,
  fult: 12,
  fule: 13,
  une: 14,
  true: 15,
  eq: 32,
  ne: 33,
  ugt: 34,
  uge: 35,
  ult: 36,
  ule: 37,
  sgt: 38,
  sge: 39,
  slt: 40,
  sle: 41,
};
export const predicates = inverse(predicateCodes);

/** A predicate in LLVM's text. */
export const predicateName = (predicate: Predicate): string => (predicate.startsWith('fu') ? predicate.slice(1) : predicate);

export const linkageCodes: Record<Linkage, number> = {
  external: 0,
  appending: 2,
  internal: 3,
  extern_weak: 7,
  common: 8,
  private: 9,
  available_externally: 12,
  weak: 16,
  weak_odr: 17,
  linkonce: 18,
  linkonce_odr: 19,
};
/** Linkages by number, including the numbers of older writers. */
export const linkages: ReadonlyMap<number, Linkage> = new Map([
  ...inverse(linkageCodes),
  [1, 'weak'],
  [4, 'linkonce'],
  [5, 'external'],
  [6, 'external'],
  [10, 'weak_odr'],
  [11, 'linkonce_odr'],
  [13, 'private'],
  [14, 'private'],
  [15, 'external'],
] as const);

export const unnamedAddrCodes: Record<UnnamedAddr, number> = { none: 0, unnamed_addr: 1, local_unnamed_addr: 2 };
export const unnamedAddrs = inverse(unnamedAddrCodes);

export const visibilityCodes: Record<Visibility, number> = { hidden: 1, protected: 2 };
export const visibilities = inverse(visibilityCodes);

/** Operations of `atomicrmw` by number. */
export const atomicOperations: readonly AtomicOperation[] = [
  'xchg',
  'add',
  'sub',
  'and',
  'nand',
  'or',
  'xor',
  'max',
  'min',
  'umax',
  'umin',
  'fadd',
  'fsub',
  'fmax',
  'fmin',
  'uinc_wrap',
  'udec_wrap',
];
/** Orders of memory accesses by number. */
export const memoryOrders: readonly (MemoryOrder | undefined)[] = [
  undefined,
  'unordered',
  'monotonic',
  'acquire',
  'release',
  'acq_rel',
  'seq_cst',
];

/** Bits of a call's flags operand. */
export const callFlags = {
  conventionShift: 1,
  conventionMask: 0x3ff,
  tail: 1 << 0,
  mustTail: 1 << 14,
  explicitType: 1 << 15,
  noTail: 1 << 16,
  fastMath: 1 << 17,
} as const;
/** The explicit-type bit of an alloca's alignment operand. */
export const allocaExplicitType = 1 << 6;
