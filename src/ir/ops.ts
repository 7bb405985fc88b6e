/**
 * The op table: one row per operation of the IR. The instruction union, builder, printer, parser, verifier, evaluator and
 * every back-end derive from it or must be total over it. Semantics are in `docs/ir.md`; where LLVM has poison or
 * undefined behavior, a row here defines the result.
 */
import type { Sreg } from './sregs.ts';
import type { Space } from './types.ts';

/** How the result type follows: that of operand `a`, of operand `b`, always i1, none, or written with the instruction. */
export type TypeRule = 'a' | 'b' | 'i1' | 'void' | 'given';
/** Which operand types are legal; the verifier reads it. */
export type Domain = 'int' | 'float' | 'f32' | 'scalar' | 'pointer' | 'i1' | 'any';
/** `warp`: a collective of the threads of a warp that reach it together; `volatile`: each execution may give another value. */
export type Effect = 'pure' | 'reads' | 'writes' | 'volatile' | 'barrier' | 'warp';

export interface OpSpec {
  /** Operand names in order, with the domain of each; `=a` demands the type of operand a. */
  readonly args: Readonly<Record<string, Domain | '=a'>>;
  /** Attributes with an example value each, from which their types are derived. */
  readonly attrs?: object;
  readonly type: TypeRule;
  readonly effect: Effect;
  readonly doc: string;
}

export const icmpPredicates = ['eq', 'ne', 'slt', 'sle', 'sgt', 'sge', 'ult', 'ule', 'ugt', 'uge'] as const;
export const fcmpPredicates = ['oeq', 'one', 'olt', 'ole', 'ogt', 'oge', 'ord', 'ueq', 'une', 'ult', 'ule', 'ugt', 'uge', 'uno'] as const;
/** The function of the old value and the operand that an atomic stores. `inc` and `dec` wrap at the operand (PTX ISA 9.7.13). */
const atomicOps = ['add', 'and', 'or', 'xor', 'exch', 'smin', 'smax', 'umin', 'umax', 'inc', 'dec', 'fadd'] as const;
export type AtomicOp = (typeof atomicOps)[number];

/** How a reduction over a warp combines two values. */
export const folds = ['add', 'and', 'or', 'xor', 'smin', 'smax', 'umin', 'umax'] as const;
export type Fold = (typeof folds)[number];

/** `counter` never decreases; `time` is the time of day. */
export const clocks = ['counter', 'time'] as const;
export type Clock = (typeof clocks)[number];

/** The threads that a fence orders memory for: those of the block, or of the device. */
export const fenceScopes = ['block', 'device'] as const;
export type FenceScope = (typeof fenceScopes)[number];

export type IcmpPredicate = (typeof icmpPredicates)[number];
export type FcmpPredicate = (typeof fcmpPredicates)[number];

const int2 = { a: 'int', b: '=a' } as const;
/** A call of a function of the kernel, by its name. */
const call = { attrs: { fn: '' as string }, type: 'given' } as const;
const float1 = { a: 'float' } as const;
const float2 = { a: 'float', b: '=a' } as const;

export const ops = {
  // ── values from nowhere ──
  const: {
    args: {},
    attrs: { bits: 0n as bigint },
    type: 'given',
    effect: 'pure',
    doc: 'A scalar by its bits, zero-extended; a null pointer has bits 0.',
  },
  arg: { args: {}, type: 'given', effect: 'pure', doc: 'A block parameter; it is in `Block.params`, never in a body.' },
  param: {
    args: {},
    attrs: { index: 0 as number },
    type: 'given',
    effect: 'pure',
    doc: 'Entry parameter `index`: `ptr.param` to the bytes of a by-value parameter, or the pointer itself (`ptr.global`, `ptr.constant`, `ptr.shared`) of a pointer parameter.',
  },
  variable: {
    args: {},
    attrs: { name: '' as string },
    type: 'given',
    effect: 'pure',
    doc: 'Address of a shared, constant or local variable of the kernel, in its space.',
  },
  sreg: {
    args: {},
    attrs: { name: 'tid.x' as Sreg },
    type: 'given',
    effect: 'pure',
    doc: 'A special register, i32. `tid.linear` is the thread number in its block, x fastest; `gid` is ctaid * ntid + tid modulo 2^32.',
  },

  // ── integers: wrapping, any width ──
  add: { args: int2, type: 'a', effect: 'pure', doc: 'a + b modulo 2^n.' },
  sub: { args: int2, type: 'a', effect: 'pure', doc: 'a - b modulo 2^n.' },
  mul: { args: int2, type: 'a', effect: 'pure', doc: 'Low half of a * b.' },
  smulhi: { args: int2, type: 'a', effect: 'pure', doc: 'High half of the signed product.' },
  umulhi: { args: int2, type: 'a', effect: 'pure', doc: 'High half of the unsigned product.' },
  sdiv: {
    args: int2,
    type: 'a',
    effect: 'pure',
    doc: 'Signed quotient towards zero. Total: x / 0 is all ones; the least value / -1 is the least value.',
  },
  udiv: { args: int2, type: 'a', effect: 'pure', doc: 'Unsigned quotient. Total: x / 0 is all ones.' },
  srem: { args: int2, type: 'a', effect: 'pure', doc: 'Signed remainder with the sign of a. Total: x rem 0 is x; x rem -1 is 0.' },
  urem: { args: int2, type: 'a', effect: 'pure', doc: 'Unsigned remainder. Total: x rem 0 is x.' },
  and: { args: int2, type: 'a', effect: 'pure', doc: 'Bitwise and.' },
  or: { args: int2, type: 'a', effect: 'pure', doc: 'Bitwise or.' },
  xor: { args: int2, type: 'a', effect: 'pure', doc: 'Bitwise exclusive or.' },
  shl: { args: int2, type: 'a', effect: 'pure', doc: 'a shifted left by b, unsigned; counts of n and more give 0.' },
  lshr: { args: int2, type: 'a', effect: 'pure', doc: 'a shifted right by b, zeros coming in; counts of n and more give 0.' },
  ashr: {
    args: int2,
    type: 'a',
    effect: 'pure',
    doc: 'a shifted right by b, sign bits coming in; counts of n and more give the sign throughout.',
  },
  smin: { args: int2, type: 'a', effect: 'pure', doc: 'The smaller, signed.' },
  smax: { args: int2, type: 'a', effect: 'pure', doc: 'The larger, signed.' },
  umin: { args: int2, type: 'a', effect: 'pure', doc: 'The smaller, unsigned.' },
  umax: { args: int2, type: 'a', effect: 'pure', doc: 'The larger, unsigned.' },
  clz: { args: { a: 'int' }, type: 'a', effect: 'pure', doc: 'Leading zero bits; n for 0.' },
  popcount: { args: { a: 'int' }, type: 'a', effect: 'pure', doc: 'How many bits are set.' },
  bitrev: { args: { a: 'int' }, type: 'a', effect: 'pure', doc: 'The bits in reverse order.' },
  icmp: { args: int2, attrs: { pred: 'eq' as IcmpPredicate }, type: 'i1', effect: 'pure', doc: 'Integer comparison.' },

  // ── floats: IEEE 754, round to nearest even, subnormals kept; which NaN a NaN result is, is not specified ──
  fadd: { args: float2, type: 'a', effect: 'pure', doc: 'a + b, never contracted.' },
  fsub: { args: float2, type: 'a', effect: 'pure', doc: 'a - b, never contracted.' },
  fmul: { args: float2, type: 'a', effect: 'pure', doc: 'a * b, never contracted.' },
  fdiv: { args: float2, type: 'a', effect: 'pure', doc: 'a / b, correctly rounded.' },
  fma: { args: { a: 'float', b: '=a', c: '=a' }, type: 'a', effect: 'pure', doc: 'a * b + c with one rounding.' },
  fsqrt: { args: float1, type: 'a', effect: 'pure', doc: 'Square root, correctly rounded.' },
  fneg: { args: float1, type: 'a', effect: 'pure', doc: 'The sign bit flipped, of NaN too.' },
  fabs: { args: float1, type: 'a', effect: 'pure', doc: 'The sign bit cleared, of NaN too.' },
  ftz: { args: { a: 'f32' }, type: 'a', effect: 'pure', doc: 'a, NaN too; for a subnormal a the zero of its sign.' },
  fmin: { args: float2, type: 'a', effect: 'pure', doc: 'The smaller; the other operand where one is NaN; -0 is below +0.' },
  fmax: { args: float2, type: 'a', effect: 'pure', doc: 'The larger; the other operand where one is NaN; -0 is below +0.' },
  frint: { args: float1, type: 'a', effect: 'pure', doc: 'To an integral value, ties to even.' },
  ftrunc: { args: float1, type: 'a', effect: 'pure', doc: 'To an integral value towards zero.' },
  ffloor: { args: float1, type: 'a', effect: 'pure', doc: 'To an integral value downwards.' },
  fceil: { args: float1, type: 'a', effect: 'pure', doc: 'To an integral value upwards.' },
  // Approximate: a device may be off by a few units in the last place, so these are never folded.
  fexp2: { args: float1, type: 'a', effect: 'pure', doc: '2 to the power of a, approximately.' },
  flog2: { args: float1, type: 'a', effect: 'pure', doc: 'The logarithm to base 2, approximately; of 0 minus infinity.' },
  fsin: { args: float1, type: 'a', effect: 'pure', doc: 'Sine of an angle in radians, approximately.' },
  fcos: { args: float1, type: 'a', effect: 'pure', doc: 'Cosine of an angle in radians, approximately.' },
  ftanh: { args: float1, type: 'a', effect: 'pure', doc: 'Hyperbolic tangent, approximately.' },
  frcp: { args: float1, type: 'a', effect: 'pure', doc: '1 over a, an f32 or f64, approximately; of a zero infinity of its sign.' },
  frsqrt: { args: float1, type: 'a', effect: 'pure', doc: '1 over the square root, approximately; of a zero infinity of its sign.' },
  fcmp: {
    args: float2,
    attrs: { pred: 'oeq' as FcmpPredicate },
    type: 'i1',
    effect: 'pure',
    doc: 'Float comparison; `o` predicates are false and `u` predicates true where an operand is NaN.',
  },

  // ── conversions ──
  trunc: { args: { a: 'int' }, type: 'given', effect: 'pure', doc: 'The low bits.' },
  zext: { args: { a: 'int' }, type: 'given', effect: 'pure', doc: 'Zero extension.' },
  sext: { args: { a: 'int' }, type: 'given', effect: 'pure', doc: 'Sign extension.' },
  bitcast: { args: { a: 'scalar' }, type: 'given', effect: 'pure', doc: 'The same bits as another scalar type of the same width.' },
  fptosi: { args: float1, type: 'given', effect: 'pure', doc: 'Towards zero to a signed integer, saturating; NaN gives 0.' },
  fptoui: { args: float1, type: 'given', effect: 'pure', doc: 'Towards zero to an unsigned integer, saturating; NaN gives 0.' },
  sitofp: { args: { a: 'int' }, type: 'given', effect: 'pure', doc: 'Signed integer to float, nearest even; overflow gives infinity.' },
  uitofp: { args: { a: 'int' }, type: 'given', effect: 'pure', doc: 'Unsigned integer to float, nearest even; overflow gives infinity.' },
  fpext: { args: float1, type: 'given', effect: 'pure', doc: 'To a wider float, exact.' },
  fptrunc: { args: float1, type: 'given', effect: 'pure', doc: 'To a narrower float, nearest even.' },

  // ── functions of the kernel ──
  call1: { ...call, args: { a: 'scalar' }, effect: 'pure', doc: 'The kernel’s function `fn` of a.' },
  call2: { ...call, args: { a: 'scalar', b: 'scalar' }, effect: 'pure', doc: 'The function `fn` of two.' },
  call3: { ...call, args: { a: 'scalar', b: 'scalar', c: 'scalar' }, effect: 'pure', doc: 'The function `fn` of three.' },
  fetch: {
    ...call,
    args: { a: 'scalar', b: 'any', c: 'any' },
    effect: 'reads',
    doc: 'The function `fn` of three, which reads global memory: a is an address (i64) in it.',
  },
  exchange: {
    ...call,
    args: int2,
    effect: 'warp',
    doc: 'The function `fn` of an i32 and the number of the lane, with the i32 of other lanes: it reads shared memory at places that lanes name.',
  },

  // ── choice ──
  select: { args: { cond: 'i1', a: 'any', b: '=a' }, type: 'a', effect: 'pure', doc: 'a where cond holds, else b.' },

  // ── vectors: only for wide accesses ──
  vec2: { args: { a: 'scalar', b: '=a' }, type: 'given', effect: 'pure', doc: 'Two scalars as a vector.' },
  vec4: { args: { a: 'scalar', b: '=a', c: '=a', d: '=a' }, type: 'given', effect: 'pure', doc: 'Four scalars as a vector.' },
  extract: { args: { a: 'any' }, attrs: { lane: 0 as number }, type: 'given', effect: 'pure', doc: 'One element of a vector.' },

  // ── addresses and memory ──
  ptradd: { args: { a: 'pointer', b: 'int' }, type: 'a', effect: 'pure', doc: 'The pointer `b` bytes on; b is i64, signed.' },
  ptrtoint: {
    args: { a: 'pointer' },
    type: 'given',
    effect: 'pure',
    doc: 'The address as i64: of global memory the device address, of shared, constant and local memory the offset in its window.',
  },
  inttoptr: {
    args: { a: 'int' },
    type: 'given',
    effect: 'pure',
    doc: 'An i64 address, as `ptrtoint` gives it, in the space of the result type.',
  },
  isspace: {
    args: { a: 'int' },
    attrs: { space: 'global' as Space },
    type: 'i1',
    effect: 'pure',
    doc: 'Whether an i64 is a generic address in a space. Lowering decides it: no back-end meets one.',
  },
  load: {
    args: { addr: 'pointer' },
    attrs: { align: 4 as number, volatile: false as boolean },
    type: 'given',
    effect: 'reads',
    doc: 'Reads a scalar or vector; `align` in bytes. A volatile load is never removed or merged, and reads each element atomically.',
  },
  store: {
    args: { addr: 'pointer', value: 'any' },
    attrs: { align: 4 as number, volatile: false as boolean },
    type: 'void',
    effect: 'writes',
    doc: 'Writes a scalar or vector; `align` in bytes. A volatile store is never removed, and writes each element atomically.',
  },

  atomic: {
    args: { a: 'pointer', b: 'scalar' },
    attrs: { rmw: 'add' as AtomicOp },
    type: 'b',
    effect: 'writes',
    doc: 'Replaces the value at a by `rmw` of it and b, atomically; gives the old value. Orders no other access. `fadd` of f32 in global memory flushes subnormals.',
  },
  cas: {
    args: { a: 'pointer', b: 'scalar', c: 'scalar' },
    type: 'b',
    effect: 'writes',
    doc: 'Replaces the value at a by c where it equals b, atomically; gives the old value.',
  },

  fence: {
    args: {},
    attrs: { scope: 'block' as FenceScope },
    type: 'void',
    effect: 'writes',
    doc: 'Orders memory: a thread of the scope that observes an access of this thread after the fence observes those before it.',
  },

  clock: {
    args: {},
    attrs: { name: 'counter' as Clock },
    type: 'given',
    effect: 'volatile',
    doc: 'Nanoseconds, an i64: `time` since 1970, `counter` since an unspecified moment, never decreasing. Only the CPU device has it.',
  },

  // ── the block of threads ──
  barrier: {
    args: {},
    type: 'void',
    effect: 'barrier',
    doc: 'Waits for all live threads of the block; global and shared memory before it is visible after it.',
  },

  // ── the warp: those of its threads that reach the instruction together ──
  shuffle: {
    args: { a: 'scalar', b: 'int' },
    type: 'a',
    effect: 'warp',
    doc: 'The a of the thread in lane b, an i32. Which value it is where that thread does not take part, or b is above 31, is not specified.',
  },
  ballot: { args: { a: 'i1' }, type: 'given', effect: 'warp', doc: 'An i32 with the a of each lane; 0 for threads that do not take part.' },
  reduce: {
    args: { a: 'int' },
    attrs: { fold: 'add' as Fold },
    type: 'a',
    effect: 'warp',
    doc: 'The a of all threads that take part, an i32 each, folded into one.',
  },
  matmul: {
    args: { a: 'any', b: 'any', c: 'any' },
    type: 'given',
    effect: 'warp',
    doc: 'a * b + c of matrices of 8 by 8 floats, each spread over the whole warp: lane l, of the bits l0 to l4, has as a `v2` the columns 2 l0 + 4 l3 and the one behind it of row l1 + 2 l2 + 4 l4. Sums are f32, of c and then along k, and are rounded to the result at the end; a device may add in another order, and with another rounding of each sum. The result is not specified where a lane does not take part.',
  },
  mma: {
    args: { a: 'any', b: 'any', c: 'any', d: 'int' },
    attrs: { form: '' as string },
    type: 'given',
    effect: 'warp',
    doc: 'a * b + c of matrices that a warp holds as `mma.sync` does, of the shape and the types that `form` names; `d` is an i32: the positions of the elements of a sparse a, and for a target that computes the form by functions the number of the lane. Floats are multiplied and added in f32, first c and then along k, each sum rounded; f64 with one rounding of product and sum. The result is not specified where a lane does not take part.',
  },
  syncwarp: {
    args: {},
    type: 'void',
    effect: 'warp',
    doc: 'Waits for the threads that take part; global and shared memory before it is visible to them after it.',
  },
  // ── the warp, by member masks: a thread waits until every live thread of its mask executes a collective of the same kind and mask ──
  shufflesync: {
    args: { a: 'int', b: 'int', members: 'int' },
    type: 'a',
    effect: 'warp',
    doc: 'The a of the thread in lane b, an i32 each, where that lane is in the mask `members`; otherwise it is not specified. The threads of the mask meet wherever they are in the kernel.',
  },
  ballotsync: {
    args: { a: 'i1', members: 'int' },
    type: 'given',
    effect: 'warp',
    doc: 'An i32 with the a of each live lane of the mask `members`; 0 for all others.',
  },
  reducesync: {
    args: { a: 'int', members: 'int' },
    attrs: { fold: 'add' as Fold },
    type: 'a',
    effect: 'warp',
    doc: 'The a of all live threads of the mask `members`, an i32 each, folded into one.',
  },
  warpsync: {
    args: { members: 'int' },
    attrs: { isFence: true as boolean },
    type: 'void',
    effect: 'warp',
    doc: 'Waits for the live threads of the mask `members`. With `isFence`, global and shared memory before it is visible to them after it; without, it is the convergence that an `.aligned` instruction requires.',
  },
  yield: {
    args: {},
    type: 'void',
    effect: 'warp',
    doc: 'Lets the other threads of the block run. The CPU device inserts it in loops that wait for what another thread writes.',
  },
  members: {
    args: { a: 'int' },
    type: 'void',
    effect: 'volatile',
    doc: 'The lanes that are to take part in the next collective, as an i32 mask. The CPU device inserts it for the fast sanitizer, when it replaces collectives that have a mask.',
  },
  input: {
    args: { a: 'any' },
    attrs: { index: 0 as number },
    type: 'void',
    effect: 'writes',
    doc: 'Operand `index` of the next `asm`. Only kernels that become PTX again have it.',
  },
  asm: {
    args: {},
    attrs: { text: '' as string, declares: '' as string, since: 1 as number },
    type: 'void',
    effect: 'writes',
    doc: 'Instructions of PTX as they are: `$0` and so on are the operands before it, `#0:f32` and so on results of a type behind it, and `&0:f32` a result in the register of operand 0. `declares` is what they need in the module, and `since` the version of PTX. It may change any memory. Only kernels that become PTX again have it.',
  },
  output: {
    args: {},
    attrs: { index: 0 as number },
    type: 'given',
    effect: 'volatile',
    doc: 'Result `index` of the `asm` before it.',
  },
  mark: {
    args: {},
    type: 'void',
    effect: 'volatile',
    doc: 'The start of an instruction of the source. It is present only in kernels compiled for the profiler or the trace.',
  },
  within: {
    args: { a: 'int' },
    attrs: { limit: 0 as number, isSigned: true as boolean, isWhole: false as boolean },
    type: 'void',
    effect: 'volatile',
    doc: 'Asserts that a is from minus `limit` to `limit`, or unsigned at most `limit`. The CPU device inserts it for the fast sanitizer, which falls back to the precise one where it does not hold. Of a 64-bit number the low half is checked, unless `isWhole`.',
  },
  addressable: {
    args: { a: 'any', b: 'int', c: 'int' },
    attrs: { byB: 0 as number, byC: 0 as number, isSignedB: true as boolean, isSignedC: true as boolean },
    type: 'void',
    effect: 'volatile',
    doc: 'Faults unless a, an i64 or a pointer, plus b times `byB` plus c times `byC`, i32 that are sign-extended or zero-extended, is below 2^32 as an unsigned number. The vectorizer inserts it before accesses whose addresses it computes in 32 bits.',
  },
  aligned: {
    args: { a: 'pointer' },
    attrs: { align: 4 as number },
    type: 'void',
    effect: 'volatile',
    doc: 'Faults unless a is a multiple of `align`, a power of two. The engine inserts it before accesses whose alignment is not known.',
  },
  guard: {
    args: { a: 'pointer' },
    attrs: { number: 0 as number },
    type: 'void',
    effect: 'volatile',
    doc: 'The next access is at a. The CPU device inserts it for the fast sanitizer; `number` is an index into its list of checks.',
  },
} as const satisfies Record<string, OpSpec>;

export type Op = keyof typeof ops;
export const opNames = Object.keys(ops) as readonly Op[];

/** The row of an op with its literal types forgotten, for code that walks the table. */
export const specOf = (op: Op): OpSpec => ops[op];
