/** LLVM's intrinsics on floats, for one element. Source: LLVM Language Reference, "Standard C/C++ Library Intrinsics"; PTX ISA 9.0, 9.7.3. */
import { refuse } from '../refused.ts';
import {
  compareFloats,
  convertedFloat,
  type FloatName,
  fastMath,
  floatBinary,
  floatOperation,
  floatPrefix,
  fusedProduct,
  magnitude,
  singleOperation,
  squareRoot,
} from '../select/floats.ts';
import { compareIntegers, containerBits, intPrefix, selected } from '../select/integers.ts';
import { type FunctionState, into } from '../state.ts';

/** One element of the operands. */
export type FloatIntrinsic = (s: FunctionState, name: FloatName, operands: readonly string[], flags: number) => string;

const bitsOf = (name: FloatName): number => ({ half: 16, bfloat: 16, float: 32, double: 64 })[name];
const moveOf = (name: FloatName): string => ({ half: 'b16', bfloat: 'b16', float: 'f32', double: 'f64' })[name];

/** Rounding to an integer: `cvt` with an integer rounding of one type. */
const integral =
  (rounding: 'rni' | 'rzi' | 'rmi' | 'rpi'): FloatIntrinsic =>
  (s, name, [a]) => {
    if (name === 'bfloat')
      return convertedFloat(s, 'float', 'bfloat', integral(rounding)(s, 'float', [convertedFloat(s, 'bfloat', 'float', a!)], 0));
    const type = { half: 'f16', float: 'f32', double: 'f64' }[name];
    return into(s, floatPrefix(name), `cvt.${rounding}.${type}.${type}`, a!);
  };

/** To the nearest integer, halves away from zero: the truncated value, and one more where the rest is a half or more. */
const roundAway: FloatIntrinsic = (s, name, [a], flags) => {
  if (name === 'half' || name === 'bfloat')
    return convertedFloat(s, 'float', name, roundAway(s, 'float', [convertedFloat(s, name, 'float', a!)], flags));
  const whole = integral('rzi')(s, name, [a!], 0);
  // The difference is exact.
  const rest = magnitude(s, name, floatBinary(s, 'fsub', name, 0, [a!, whole]));
  const [half, one] = name === 'float' ? ['0f3f000000', '0f3f800000'] : ['0d3fe0000000000000', '0d3ff0000000000000'];
  const more = selected(
    s,
    floatPrefix(name),
    moveOf(name),
    compareFloats(s, 'oge', name, rest, half),
    one,
    name === 'float' ? '0f00000000' : '0d0000000000000000',
  );
  return withSign(s, name, floatBinary(s, 'fadd', name, 0, [magnitude(s, name, whole), more]), a!);
};

/** The magnitude of one float with the sign of another. */
function withSign(s: FunctionState, name: FloatName, size: string, sign: string): string {
  if (name === 'float' || name === 'double') return into(s, floatPrefix(name), `copysign.${name === 'float' ? 'f32' : 'f64'}`, sign, size);
  return into(s, 'rs', 'or.b16', magnitude(s, name, size), into(s, 'rs', 'and.b16', sign, '0x8000'));
}

/** A minimum or maximum that is NaN if an operand is. `.NaN` is for 32 bits and less. */
const strict =
  (word: 'min' | 'max'): FloatIntrinsic =>
  (s, name, [a, b]) => {
    if (name !== 'double') return floatOperation(s, `${word}.NaN`, name, [a!, b!]);
    const least = floatOperation(s, word, name, [a!, b!]);
    return selected(s, 'fd', 'f64', compareFloats(s, 'uno', name, a!, b!), '0d7ff8000000000000', least);
  };

/** An approximation of single precision, where the flags allow one. */
const approximate =
  (word: string): FloatIntrinsic =>
  (s, name, [a], flags) =>
    name === 'float' && flags & fastMath.approximate
      ? floatOperation(s, `${word}.approx`, name, [a!])
      : refuse(`llvm.${word} without \`afn\``);

/** Intrinsics on one element by their names. */
export const floatIntrinsics: Readonly<Record<string, FloatIntrinsic>> = {
  'llvm.fma': (s, name, [a, b, c]) => fusedProduct(s, name, a!, b!, c!),
  'llvm.fmuladd': (s, name, [a, b, c]) => fusedProduct(s, name, a!, b!, c!),
  'llvm.sqrt': (s, name, [a], flags) => squareRoot(s, name, flags, a!),
  'llvm.fabs': (s, name, [a]) => magnitude(s, name, a!),
  'llvm.copysign': (s, name, [a, b]) => withSign(s, name, a!, b!),
  'llvm.floor': integral('rmi'),
  'llvm.ceil': integral('rpi'),
  'llvm.trunc': integral('rzi'),
  'llvm.rint': integral('rni'),
  'llvm.nearbyint': integral('rni'),
  'llvm.roundeven': integral('rni'),
  'llvm.round': roundAway,
  'llvm.minnum': (s, name, [a, b]) => floatOperation(s, 'min', name, [a!, b!]),
  'llvm.maxnum': (s, name, [a, b]) => floatOperation(s, 'max', name, [a!, b!]),
  'llvm.minimumnum': (s, name, [a, b]) => floatOperation(s, 'min', name, [a!, b!]),
  'llvm.maximumnum': (s, name, [a, b]) => floatOperation(s, 'max', name, [a!, b!]),
  'llvm.minimum': strict('min'),
  'llvm.maximum': strict('max'),
  'llvm.canonicalize': (s, name, [a]) =>
    singleOperation(s, 'mul.rn', name, [
      a!,
      name === 'double'
        ? '0d3ff0000000000000'
        : name === 'float'
          ? '0f3f800000'
          : into(s, 'rs', 'mov.b16', name === 'half' ? '0x3c00' : '0x3f80'),
    ]),
  'llvm.exp2': approximate('ex2'),
  'llvm.log2': approximate('lg2'),
  'llvm.sin': approximate('sin'),
  'llvm.cos': approximate('cos'),
};

/** Bits of the mask of `llvm.is.fpclass`. */
const classBits = {
  signaling: 1,
  quiet: 2,
  negativeInfinity: 4,
  negativeNormal: 8,
  negativeSubnormal: 16,
  negativeZero: 32,
  zero: 64,
  subnormal: 128,
  normal: 256,
  infinity: 512,
} as const;
const fractionBits: Readonly<Record<FloatName, number>> = { half: 10, bfloat: 7, float: 23, double: 52 };

/** Whether a float is in one of the classes of a mask: ranges of its bits. */
export function isInClass(s: FunctionState, name: FloatName, mask: number, a: string): string {
  const bits = bitsOf(name);
  const prefix = intPrefix(bits);
  const raw = name === 'half' || name === 'bfloat' ? a : into(s, prefix, `mov.b${bits}`, a);
  const [fraction, sign] = [1n << BigInt(fractionBits[name]), 1n << BigInt(bits - 1)];
  const infinity = sign - fraction;
  const quiet = infinity + fraction / 2n;
  const ranges: readonly (readonly [bit: number, low: bigint, high: bigint])[] = [
    [classBits.zero, 0n, 0n],
    [classBits.subnormal, 1n, fraction - 1n],
    [classBits.normal, fraction, infinity - 1n],
    [classBits.infinity, infinity, infinity],
    [classBits.signaling, infinity + 1n, quiet - 1n],
    [classBits.quiet, quiet, sign - 1n],
    [classBits.negativeZero, sign, sign],
    [classBits.negativeSubnormal, sign + 1n, sign + fraction - 1n],
    [classBits.negativeNormal, sign + fraction, sign + infinity - 1n],
    [classBits.negativeInfinity, sign + infinity, sign + infinity],
    [classBits.signaling, sign + infinity + 1n, sign + quiet - 1n],
    [classBits.quiet, sign + quiet, 2n * sign - 1n],
  ];
  const text = (n: bigint): string => String(bits === 16 ? n : BigInt.asIntN(bits, n));
  const container = containerBits(bits);
  const tests = ranges
    .filter(([bit]) => (mask & bit) !== 0)
    .map(([, low, high]) => compareIntegers(s, 'ule', bits, into(s, prefix, `sub.s${container}`, raw, text(low)), text(high - low)));
  return tests.length === 0 ? into(s, 'p', 'mov.pred', 0) : tests.reduce((any, each) => into(s, 'p', 'or.pred', any, each));
}
