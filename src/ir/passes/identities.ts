/**
 * Identities of integers, one a line: what an instruction is, and what it is with fewer. A small letter or a word is any value, a capital letter a constant,
 * a number itself, modulo the width. The third part says when the identity holds, and gives the constants that only the second part has. Facts are of the bits
 * of a value (`open`, those that may be 1, and `set`, those that are), its `width`, and of the result: `w`, its width, and `all`, its bits.
 * `spec/ir/identities.spec.ts` and `scripts/prove-identities.ts` compute both sides of each line.
 */

/** What a condition may ask about a match. */
export interface Facts {
  /** The constants of the pattern, by name. */
  readonly of: Readonly<Record<string, bigint>>;
  /** The width of the result, and a number of so many ones. */
  readonly w: bigint;
  readonly all: bigint;
  /** The bits that a value may have. */
  open(name: string): bigint;
  /** The bits that it has. */
  set(name: string): bigint;
  width(name: string): bigint;
}

/** Whether an identity holds; or the constants of its second part. */
type When = (facts: Facts) => boolean | Readonly<Record<string, bigint>>;
export type Identity = readonly [from: string, to: string, when?: When];

const onesOfWidths = Array.from({ length: 129 }, (_, bits) => (1n << BigInt(bits)) - 1n);
const ones = (bits: bigint): bigint => onesOfWidths[Number(bits)] ?? (1n << bits) - 1n;
const isPower = (bits: bigint): boolean => bits !== 0n && (bits & (bits - 1n)) === 0n;
const bitsOf = (bits: bigint): bigint => BigInt(bits.toString(2).length);
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
/** The bits that a value may have once it is shifted to the left by C. */
const movedFrom = (f: Facts, name: string): bigint => (f.of.C! < f.w ? (f.open(name) << f.of.C!) & f.all : 0n);
/** Whether a mask has none of so many low bits. */
const isAbove = (mask: bigint, bits: bigint): boolean => (mask & ones(bits)) === 0n;
/** Whether a value is no negative number. */
const isNatural = (f: Facts, name: string): boolean => f.open(name) >> (f.width(name) - 1n) === 0n;
const isAsWide: When = (f) => f.width('x') === f.w;
const areAsWide: When = (f) => f.width('x') === f.w && f.width('y') === f.w;

const sums: readonly Identity[] = [
  ['add (sub x y) y', 'x'],
  ['sub (add x y) y', 'x'],
  ['sub x (sub x y)', 'y'],
  ['sub x (add x y)', 'sub 0 y'],
  ['sub 0 (sub x y)', 'sub y x'],
  ['add x (sub 0 y)', 'sub x y'],
  ['sub x (sub 0 y)', 'add x y'],
  ['sub x C', 'add x N', ({ of }) => ({ N: -of.C! })],
  ['sub C (add x D)', 'sub N x', ({ of }) => ({ N: of.C! - of.D! })],
  ['sub (add x C) (add y C)', 'sub x y'],
  ['add (add x C) (add y D)', 'add (add x y) N', ({ of }) => ({ N: of.C! + of.D! })],
  ['sub x (and x C)', 'and x N', ({ of, all }) => ({ N: all & ~of.C! })],
  ['add (xor x -1) 1', 'sub 0 x'],
  ['sub -1 x', 'xor x -1'],
  ['mul x -1', 'sub 0 x'],
];

const bits: readonly Identity[] = [
  ['and x (or x y)', 'x'],
  ['or x (and x y)', 'x'],
  ['or x (xor x -1)', '-1'],
  ['and x (xor x -1)', '0'],
  ['xor (xor x y) y', 'x'],
  ['and (or x C) D', 'D', ({ of }) => (of.C! & of.D!) === of.D],
  ['and (or x C) D', 'and x D', ({ of }) => (of.C! & of.D!) === 0n],
  ['and (or x y) D', 'and x D', (f) => (f.open('y') & f.of.D!) === 0n],
  ['or (and x C) (and x D)', 'and x M', ({ of }) => ({ M: of.C! | of.D! })],
  ['and x C', 'x', (f) => (f.open('x') & ~f.of.C!) === 0n],
  ['and x C', 'M', (f) => (f.open('x') & ~f.set('x') & f.of.C!) === 0n && { M: f.set('x') & f.of.C! }],
  ['or x C', 'C', (f) => (f.open('x') & ~f.of.C!) === 0n],
];

const shifts: readonly Identity[] = [
  ['shl (shl x C) D', 'shl x S', ({ of, w }) => of.C! + of.D! < w && { S: of.C! + of.D! }],
  ['lshr x C', '0', (f) => f.open('x') >> f.of.C! === 0n],
  ['lshr (lshr x C) D', 'lshr x S', ({ of, w }) => of.C! + of.D! < w && { S: of.C! + of.D! }],
  ['ashr (ashr x C) D', 'ashr x S', ({ of, w }) => of.C! < w && of.D! < w && { S: least(of.C! + of.D!, w - 1n) }],
  ['lshr (shl x C) C', 'and x M', ({ of, w, all }) => of.C! < w && { M: all >> of.C! }],
  ['shl (lshr x C) C', 'and x M', ({ of, w, all }) => of.C! < w && { M: (all << of.C!) & all }],
  ['shl (ashr x C) C', 'and x M', ({ of, w, all }) => of.C! < w && { M: (all << of.C!) & all }],
  ['lshr (and x C) D', 'lshr x D', ({ of, w, all }) => of.D! < w && (of.C! | ones(of.D!)) === all],
  ['shl (and x C) D', 'shl x D', ({ of, w, all }) => of.D! < w && ((of.C! << of.D!) & all) === ((all << of.D!) & all)],
  ['lshr (or x y) C', 'lshr x C', (f) => f.of.C! < f.w && f.open('y') >> f.of.C! === 0n],
  ['ashr (or x y) C', 'ashr x C', (f) => f.of.C! < f.w && f.open('y') >> f.of.C! === 0n],
  ['shl (or x y) C', 'shl x C', (f) => f.of.C! < f.w && ((f.open('y') << f.of.C!) & f.all) === 0n],
  ['ashr (shl (or x y) C) D', 'ashr (shl x C) D', (f) => f.of.D! < f.w && movedFrom(f, 'y') >> f.of.D! === 0n],
  ['lshr (shl (or x y) C) D', 'lshr (shl x C) D', (f) => f.of.D! < f.w && movedFrom(f, 'y') >> f.of.D! === 0n],
  ['and (lshr (or x y) C) M', 'and (lshr x C) M', (f) => f.of.C! < f.w && ((f.open('y') >> f.of.C!) & f.of.M!) === 0n],
  [
    'and (shl (lshr x C) D) M',
    'and (lshr x S) M',
    ({ of, w }) => of.D! < of.C! && of.C! < w && isAbove(of.M!, of.D!) && { S: of.C! - of.D! },
  ],
  [
    'and (shl (lshr x C) D) M',
    'and (shl x S) M',
    ({ of, w }) => of.C! < of.D! && of.D! < w && isAbove(of.M!, of.D!) && { S: of.D! - of.C! },
  ],
  ['ashr x C', 'lshr x C', (f) => f.of.C! < f.w && isNatural(f, 'x')],
];

const widths: readonly Identity[] = [
  ['trunc (and x C)', 'trunc x', ({ of, all }) => (of.C! & all) === all],
  ['trunc (or x y)', 'trunc x', (f) => (f.open('y') & f.all) === 0n],
  ['trunc (shl x C)', '0', ({ of, w }) => of.C! >= w],
  ['trunc (shl (zext x) C)', 'shl x C', (f) => f.of.C! < f.w && f.width('x') === f.w],
  ['trunc (shl (sext x) C)', 'shl x C', (f) => f.of.C! < f.w && f.width('x') === f.w],
  ['trunc (lshr (zext x) C)', 'lshr x C', (f) => f.of.C! < f.w && f.width('x') === f.w],
  ['trunc (ashr (sext x) C)', 'ashr x S', (f) => f.width('x') === f.w && f.of.C! < f.w && { S: f.of.C! }],
  ...(['add', 'sub', 'mul', 'and', 'or', 'xor'] as const).flatMap((op): Identity[] => [
    [`trunc (${op} (zext x) (zext y))`, `${op} x y`, areAsWide],
    [`trunc (${op} (sext x) (sext y))`, `${op} x y`, areAsWide],
    [`trunc (${op} (zext x) C)`, `${op} x C`, isAsWide],
    [`trunc (${op} (sext x) C)`, `${op} x C`, isAsWide],
  ]),
  ['zext t=(trunc x)', 'and x M', (f) => f.width('x') === f.w && { M: ones(f.width('t')) }],
  ['sext x', 'zext x', (f) => isNatural(f, 'x')],
  // What an address is a sum of: the terms of a sum of 32 bits that does not wrap are terms of 64 bits.
  ['zext (shl x C)', 'shl (zext x) C', (f) => f.of.C! < f.width('x') && f.open('x') << f.of.C! <= ones(f.width('x'))],
  ['zext (add x C)', 'add (zext x) C', (f) => f.open('x') + f.of.C! <= ones(f.width('x'))],
];

/** Comparisons that a zero extension does not change; those of signs become those without. */
const ofExtended = { eq: 'eq', ne: 'ne', ult: 'ult', ule: 'ule', ugt: 'ugt', uge: 'uge', slt: 'ult', sle: 'ule', sgt: 'ugt', sge: 'uge' };

/** The constant that a sign-extended value is compared with, at the width of that value, where it has it. */
const narrowed: When = (f) => {
  const [bits, wide] = [Number(f.width('x')), Number(f.width('m'))];
  const isSame = BigInt.asIntN(bits, f.of.C!) === BigInt.asIntN(wide, f.of.C!);
  return isSame && { N: BigInt.asUintN(bits, f.of.C!) };
};

const comparisons: readonly Identity[] = [
  ...(['eq', 'ne'] as const).flatMap((is): Identity[] => [
    [`icmp.${is} (add x C) D`, `icmp.${is} x N`, ({ of }) => ({ N: of.D! - of.C! })],
    [`icmp.${is} (xor x C) D`, `icmp.${is} x N`, ({ of }) => ({ N: of.D! ^ of.C! })],
    [`icmp.${is} (sub x y) 0`, `icmp.${is} x y`],
    [`icmp.${is} (xor x y) 0`, `icmp.${is} x y`],
    [
      `icmp.${is} (and (lshr x C) M) 0`,
      `icmp.${is} (and x N) 0`,
      (f) => f.of.C! + bitsOf(f.of.M!) <= f.width('x') && { N: f.of.M! << f.of.C! },
    ],
  ]),
  ['icmp.ne (select c (select d C 0) 0) 0', 'and c d', ({ of }) => of.C !== 0n],
  ['icmp.eq (select c (select d C 0) 0) 0', 'xor (and c d) 1', ({ of }) => of.C !== 0n],
  ['icmp.eq x 0', 'xor x 1', (f) => f.width('x') === 1n],
  ['icmp.ne x 1', 'xor x 1', (f) => f.width('x') === 1n],
  ['icmp.eq m=(and x C) C', 'icmp.ne m 0', ({ of }) => isPower(of.C!)],
  ['icmp.ne m=(and x C) C', 'icmp.eq m 0', ({ of }) => isPower(of.C!)],
  ...Object.entries(ofExtended).map(
    ([from, to]): Identity => [`icmp.${from} m=(zext x) C`, `icmp.${to} x C`, (f) => f.of.C! <= ones(f.width('x'))],
  ),
  ...Object.entries(ofExtended).map(
    ([from, to]): Identity => [`icmp.${from} (zext x) (zext y)`, `icmp.${to} x y`, (f) => f.width('x') === f.width('y')],
  ),
  ...Object.keys(ofExtended).map((is): Identity => [`icmp.${is} m=(sext x) C`, `icmp.${is} x N`, narrowed]),
  ['icmp.slt t=(trunc x) 0', 'icmp.ne (and x N) 0', (f) => ({ N: 1n << (f.width('t') - 1n) })],
  ['icmp.sgt t=(trunc x) -1', 'icmp.eq (and x N) 0', (f) => ({ N: 1n << (f.width('t') - 1n) })],
  ['icmp.eq (sext x) (sext y)', 'icmp.eq x y', (f) => f.width('x') === f.width('y')],
  ['icmp.ne (sext x) (sext y)', 'icmp.ne x y', (f) => f.width('x') === f.width('y')],
];

const choices: readonly Identity[] = [
  ['select (xor c 1) x y', 'select c y x'],
  ['select c (select c x y) z', 'select c x z'],
  ['select c x (select c y z)', 'select c x z'],
  ['select c (select d x y) y', 'select (and c d) x y'],
  ['select c x (select d x y)', 'select (or c d) x y'],
  ['select c 0 1', 'xor c 1', ({ w }) => w === 1n],
  ['select c x 0', 'and c x', ({ w }) => w === 1n],
  ['select c 1 x', 'or c x', ({ w }) => w === 1n],
  ['smin (smin x y) y', 'smin x y'],
  ['smax (smax x y) y', 'smax x y'],
  ['umin (umin x y) y', 'umin x y'],
  ['umax (umax x y) y', 'umax x y'],
];

/** A NaN is any NaN (`ir.md`), and the sign of a zero is that of the first side. */
const floats: readonly Identity[] = [
  ['fadd x (fneg y)', 'fsub x y'],
  ['fsub x (fneg y)', 'fadd x y'],
  ['fmul (fneg x) (fneg y)', 'fmul x y'],
  ['fdiv (fneg x) (fneg y)', 'fdiv x y'],
  ['fma (fneg x) (fneg y) z', 'fma x y z'],
  // Of every number, -0 is what a sum does not change.
  ['fadd x C', 'x', ({ of, w }) => of.C === 1n << (w - 1n)],
  ['fsub x 0', 'x'],
  ['fma x y C', 'fmul x y', ({ of, w }) => of.C === 1n << (w - 1n)],
];

/** The first that fits is taken. */
export const identities: readonly Identity[] = [...sums, ...bits, ...shifts, ...widths, ...comparisons, ...choices, ...floats];
