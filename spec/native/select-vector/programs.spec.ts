/** Random functions, whose operations the rules join: the results are those of WebAssembly. */
import { suite } from 'uvu';
import { processorFeatures } from '../../../src/ffi/native/processor.ts';
import { type Builder, build, compareAll } from './compare.ts';
import { type LaneKind, newRandom, type Random } from './random.ts';

const test = suite('native/select-vector/programs');
const check = (name: string, run: () => void): void => void (processorFeatures().hasBaseline ? test(name, run) : test.skip(name, run));

const row = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first + i);
const constants: readonly (readonly number[])[] = [
  [0],
  [0xff],
  [1, 0, 0, 0],
  [0, 0, 0, 0x80],
  [0xff, 0, 0xff, 0],
  row(3, 16),
  row(0, 64),
  [0, 0, 0, 0, 1, 0, 0, 0],
  [0x80],
];
const relations = ['eq', 'ne', 'lt_s', 'lt_u', 'gt_s', 'gt_u', 'le_s', 'le_u', 'ge_s', 'ge_u'];
const lanes = { i8: 'i8x16', i16: 'i16x8', i32: 'i32x4', i64: 'i64x2' } as const;
const unary = ['v128.not', 'i32x4.abs', 'i8x16.popcnt', 'f32x4.neg', 'f32x4.abs', 'i64x2.neg', 'i16x8.extend_high_i8x16_s'];
const binary = ['i32x4.add', 'i64x2.sub', 'i16x8.mul', 'i32x4.min_u', 'i8x16.narrow_i16x8_u', 'i64x2.extmul_low_i32x4_s', 'i32x4.mul'];
const bitwise = ['v128.and', 'v128.or', 'v128.xor', 'v128.andnot'];
const tests = ['v128.any_true', 'i32x4.all_true', 'i64x2.all_true', 'i16x8.all_true', 'i32x4.bitmask', 'i64x2.bitmask', 'i16x8.bitmask'];

/** A function of random operations, most of whose values have one use. */
function program(b: Builder, random: Random, shape: LaneKind): number {
  const kind = random.below(4) === 0 ? (['i8', 'i16', 'i32', 'i64'] as const)[random.below(4)]! : (shape as keyof typeof lanes);
  const values = [b.input(shape), b.input(shape), b.input(shape)];
  values.push(b.constant(random.of(constants)), b.constant(random.of(constants)));
  const take = (): number => {
    const value = random.below(3) ? values[values.length - 1 - random.below(Math.min(4, values.length))]! : random.of(values);
    return value;
  };
  const count = 3 + random.below(9);
  for (let i = 0; i < count; i++) {
    const choice = random.below(12);
    if (choice < 3) {
      const op = kind === 'i64' ? random.of(['eq', 'ne', 'lt_s', 'gt_s', 'le_s', 'ge_s']) : random.of(relations);
      const float = random.below(4) === 0 && (kind === 'i32' || kind === 'i64');
      values.push(b.op(float ? `${kind === 'i32' ? 'f32x4' : 'f64x2'}.${op.slice(0, 2)}` : `${lanes[kind]}.${op}`, [take(), take()]));
    } else if (choice < 7) values.push(b.op(random.of(bitwise), [take(), take()]));
    else if (choice < 9) values.push(b.op('v128.bitselect', [take(), take(), take()]));
    else if (choice === 9) values.push(b.op(random.of(unary), [take()]));
    else if (choice === 10) values.push(b.op(random.of(binary), [take(), take()]));
    else {
      const [lane, value, left] = [random.of(['i32x4', 'i64x2']), take(), random.below(32)];
      const bits = lane === 'i32x4' ? 32 : 64;
      const right = random.below(6) ? bits - left : random.below(bits);
      const shifts = [b.op(`${lane}.shl`, [value, b.i32(left)]), b.op(`${lane}.shr_u`, [value, b.i32(right)])] as const;
      values.push(b.op(random.of(['v128.or', 'v128.xor', 'v128.or']), random.below(2) ? shifts : [shifts[1], shifts[0]]));
    }
  }
  return random.below(4) === 0 ? b.op(random.of(tests), [values.at(-1)!]) : values.at(-1)!;
}

check('random functions of comparisons, bits and shifts', () => {
  const random = newRandom(5);
  const cases = Array.from({ length: 300 }, (_, i) =>
    build(`function ${i}`, (b) => program(b, random, (['i8', 'i16', 'i32', 'i64', 'i32'] as const)[i % 5]!), { asFlags: false }),
  );
  compareAll(cases, { rounds: 6 });
});

/** A tree of comparisons of lanes of one size, each with one use. */
function maskTree(b: Builder, random: Random, kind: keyof typeof lanes, inputs: readonly number[], depth: number): number {
  const take = (): number => random.of(inputs);
  const below = (): number => maskTree(b, random, kind, inputs, depth - 1);
  if (depth > 0) return random.below(5) === 0 ? b.op('v128.not', [below()]) : b.op(random.of(bitwise), [below(), below()]);
  if (random.below(3) === 0) {
    const both = random.below(2) ? b.op('v128.and', [take(), take()]) : take();
    return b.op(`${lanes[kind]}.${random.of(['eq', 'ne'])}`, [both, b.constant([0])]);
  }
  const operands = random.below(4) ? [take(), take()] : [b.constant(random.of(constants)), take()];
  const isFloat = random.below(3) === 0 && (kind === 'i32' || kind === 'i64');
  const op = kind === 'i64' ? random.of(['eq', 'ne', 'lt_s', 'gt_s', 'le_s', 'ge_s']) : random.of(relations);
  return b.op(isFloat ? `${kind === 'i32' ? 'f32x4' : 'f64x2'}.${op.slice(0, 2)}` : `${lanes[kind]}.${op}`, operands);
}

/** What works under the mask of a tree. */
function maskUser(b: Builder, random: Random, kind: keyof typeof lanes, tree: number, inputs: readonly number[]): number {
  const take = (): number => (random.below(3) ? random.of(inputs) : b.constant(random.of(constants)));
  const user = random.below(9);
  if (user === 8) return b.op('v128.and', [b.op('v128.and', random.below(2) ? [tree, take()] : [take(), tree]), take()]);
  if (user < 3) return b.op('v128.bitselect', [take(), take(), tree]);
  if (user < 5)
    return b.op(random.of(['v128.and', 'v128.andnot']), random.below(2) ? [tree, random.of(inputs)] : [random.of(inputs), tree]);
  if (user === 5) return tree;
  return b.op(random.of(['v128.any_true', `${lanes[kind]}.all_true`, ...(kind === 'i8' ? [] : [`${lanes[kind]}.bitmask`])]), [tree]);
}

check('trees of comparisons, and what works under them', () => {
  const random = newRandom(6);
  const cases = Array.from({ length: 350 }, (_, i) => {
    const kind = (['i8', 'i16', 'i32', 'i64', 'i32'] as const)[i % 5]!;
    return build(`tree ${i}`, (b) => {
      const inputs = [b.input(kind), b.input(kind), b.input(kind)];
      return maskUser(b, random, kind, maskTree(b, random, kind, inputs, random.below(4)), inputs);
    });
  });
  compareAll(cases, { rounds: 6 });
});

test.run();
