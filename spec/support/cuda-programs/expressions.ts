/** Expressions of random CUDA C++ programs: without effects, and with one value by the rules of C++ and `prelude.h`. */
import { allTypes, floats, integers, type Scope, type Type, times, types } from './scope.ts';

type Rule = (scope: Scope, type: Type, depth: number) => string;
type Rules = readonly (readonly [weight: number, rule: Rule])[];

/** The functions of `prelude.h` with results of 32 and 64 bits, and the types of their operands. */
const intrinsics: Readonly<Record<32 | 64, readonly (readonly [name: string, ...operands: Type[]])[]>> = {
  32: [
    ['bits_ones', 'u32'],
    ['bits_zeros', 'u32'],
    ['bits_reverse', 'u32'],
    ['bits_first', 'u32'],
    ['bytes_of', 'u32', 'u32', 'u32'],
    ['shift_left', 'u32', 'u32', 'u32'],
    ['shift_right', 'u32', 'u32', 'u32'],
    ['high_product', 'u32', 'u32'],
    ['product_24', 'u32', 'u32'],
    ['distance', 'u32', 'u32', 'u32'],
    ['dot_bytes', 'u32', 'u32', 'u32'],
    ['average', 'u32', 'u32'],
    ['rotate', 'u32', 'u32'],
    ['bit_field', 'u32', 'u32', 'u32'],
    ['bits_f32', 'f32'],
  ],
  64: [
    ['bits_ones_64', 'u64'],
    ['bits_zeros_64', 'u64'],
    ['bits_reverse_64', 'u64'],
    ['high_product_64', 'u64', 'u64'],
    ['wide_product', 'u32', 'u32'],
    ['wide_signed_product', 'u32', 'u32'],
    ['bits_f64', 'f64'],
  ],
};

const unsignedOf = (type: Type): Type => `u${types[type].bits}` as Type;
const mask = (type: Type) => types[type].bits - 1;
/** The letter behind the name of a C function of single precision. */
const suffix = (type: Type) => (type === 'f32' ? 'f' : '');

const select: Rule = (scope, type, depth) =>
  `(${condition(scope, depth - 1)} ? ${expression(scope, type, depth - 1)} : ${expression(scope, type, depth - 1)})`;

/** A function of the prelude for each type, of two operands. */
const pair =
  (...names: readonly string[]): Rule =>
  (scope, type, depth) =>
    `${scope.draw.of(names)}_${type}(${expression(scope, type, depth - 1)}, ${expression(scope, type, depth - 1)})`;

const castOf =
  (from: readonly Type[]): Rule =>
  (scope, type, depth) => {
    const others = from.filter((each) => each !== type);
    return `(${type})${expression(scope, scope.draw.of(others), depth - 1)}`;
  };

const floatRules: Rules = [
  [45, (s, type, d) => `(${expression(s, type, d - 1)} ${s.draw.of(['+', '-', '*'])} ${expression(s, type, d - 1)})`],
  [7, (s, type, d) => `(${expression(s, type, d - 1)} / ${expression(s, type, d - 1)})`],
  [8, castOf(floats)],
  [12, castOf(integers)],
  [8, select],
  [6, (s, type, d) => `${s.draw.of(['fabs', 'floor', 'ceil', 'trunc', 'rint', 'sqrt'])}${suffix(type)}(${expression(s, type, d - 1)})`],
  [4, (s, type, d) => `fma${suffix(type)}(${times(3, () => expression(s, type, d - 1)).join(', ')})`],
  [7, pair('lesser', 'greater', 'signed_like')],
  [3, (s, type, d) => (type === 'f32' ? `as_f32(${expression(s, 'u32', d - 1)})` : `as_f64(${expression(s, 'u64', d - 1)})`)],
];

/** Both operands are unsigned and of 32 or 64 bits: sums of signed integers may not overflow. */
const arithmetic: Rule = (scope, type, depth) => {
  const [unsigned, wide] = [unsignedOf(type), types[type].bits === 64 ? 'u64' : 'u32'];
  const second = types[type].bits < 32 ? type : unsigned;
  const operator = scope.draw.of(['+', '-', '*', '&', '|', '^']);
  return `(${type})((${wide})${expression(scope, unsigned, depth - 1)} ${operator} (${wide})${expression(scope, second, depth - 1)})`;
};

const shiftLeft: Rule = (scope, type, depth) => {
  const wide = types[type].bits === 64 ? 'u64' : 'u32';
  return `(${type})((${wide})${expression(scope, unsignedOf(type), depth - 1)} << (${expression(scope, 'u32', depth - 1)} & ${mask(type)}))`;
};

/** A function of the prelude; a complement for types that no such function results in. */
const intrinsic: Rule = (scope, type, depth) => {
  const { bits } = types[type];
  if (bits < 32) return complement(scope, type, depth);
  const [name, ...operands] = scope.draw.of(intrinsics[bits as 32 | 64]);
  return `(${type})${name}(${operands.map((each) => expression(scope, each, depth - 1)).join(', ')})`;
};

const complement: Rule = (scope, type, depth) => `(${type})~${expression(scope, type, depth - 1)}`;

/** A call of a function of the program with this result, where there is one. */
const call: Rule = (scope, type, depth) => {
  const callees = scope.functions.filter(({ result }) => result === type);
  if (callees.length === 0) return complement(scope, type, depth);
  const { name, params } = scope.draw.of(callees);
  return `${name}(${params.map((each) => expression(scope, each, 1)).join(', ')})`;
};

const integerRules: Rules = [
  [35, arithmetic],
  [8, (s, type, d) => `(${type})(${expression(s, type, d - 1)} >> (${expression(s, 'u32', d - 1)} & ${mask(type)}))`],
  [6, shiftLeft],
  [7, pair('quotient', 'remainder')],
  [10, castOf(integers)],
  [
    5,
    (s, type, d) => {
      const from = s.draw.of(floats);
      return `${from}_to_${type}(${expression(s, from, d - 1)})`;
    },
  ],
  [7, select],
  [5, (s, type, d) => `(${type})(${condition(s, d - 1)})`],
  [5, pair('lesser', 'greater')],
  [9, intrinsic],
  [3, call],
];

/** An expression of a type, with operators nested at most so deep. */
export function expression(scope: Scope, type: Type, depth: number): string {
  if (depth <= 0 || scope.draw.chance(0.15)) return leaf(scope, type);
  return scope.draw.weighted(types[type].isFloat ? floatRules : integerRules)(scope, type, depth);
}

function leaf(scope: Scope, type: Type): string {
  const { draw, variables, arrays } = scope;
  const known = variables.filter((variable) => variable.type === type);
  if (known.length > 0 && draw.chance(0.8)) return draw.of(known).name;
  if (arrays.length > 0 && type === 'u32' && draw.chance(0.3)) return element(scope, 1);
  return variables.length > 0 && draw.chance(0.6) ? converted(scope, type) : constant(scope, type);
}

/** A variable of any type as another. */
function converted({ draw, variables }: Scope, type: Type): string {
  const { name, type: from } = draw.of(variables);
  return types[from].isFloat && !types[type].isFloat ? `${from}_to_${type}(${name})` : `(${type})${name}`;
}

/** An element of an array. */
export function element(scope: Scope, depth: number): string {
  const { name, length } = scope.draw.of(scope.arrays);
  return `${name}[${expression(scope, 'u32', depth)} & ${length - 1}]`;
}

const someFloats = ['0.0', '1.0', '-1.0', '0.5', '3.25', '-7.75', '1e10', '-1e-10', '123456.789', '65536.0', '1e-3', '1e-40', '3e38'];

function constant({ draw }: Scope, type: Type): string {
  if (types[type].isFloat) return `(${type})${draw.of(someFloats)}`;
  const sign = 1n << BigInt(types[type].bits - 1);
  const edges = [0n, 1n, 2n, 3n, 5n, 7n, 8n, 15n, 16n, 31n, 32n, 63n, 64n, 127n, 128n, 255n, 256n, sign - 1n, sign, 2n * sign - 1n];
  return `(${type})${BigInt.asUintN(types[type].bits, draw.of([...edges, draw.word()]))}ull`;
}

/** A condition: a comparison of values of any type, or several of them. */
export function condition(scope: Scope, depth: number): string {
  const { draw } = scope;
  const kind = depth <= 0 ? 'compare' : draw.weighted([[70, 'compare'] as const, [15, 'both'] as const, [15, 'not'] as const]);
  if (kind === 'both') return `(${condition(scope, depth - 1)} ${draw.of(['&&', '||'])} ${condition(scope, depth - 1)})`;
  if (kind === 'not') return `!${condition(scope, depth - 1)}`;
  const [type, below] = [draw.of(allTypes), Math.max(0, depth - 1)];
  return `(${expression(scope, type, below)} ${draw.of(['<', '>', '<=', '>=', '==', '!='])} ${expression(scope, type, below)})`;
}
