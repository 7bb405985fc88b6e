/** The value-range and known-bits analysis: what it claims holds for random expressions of random inputs, and what it finds of some. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  addBlock,
  allZeros,
  bitsOf,
  builder,
  emptyKernel,
  evalOp,
  type Inst,
  type InstOf,
  type IntType,
  isEvaluableInst,
  isInt,
  type Kernel,
  knownBits,
  magnitude,
  type Op,
  operandsOf,
  type RangeOptions,
  type Sreg,
  sregMax,
  sregs,
  trailingZeros,
  type Value,
  valueRanges,
} from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { kernelOf } from '../support/ir-text.ts';

const test = suite('ir/value-range');

const widths: readonly IntType[] = ['i8', 'i16', 'i32', 'i64'];
const binary = 'add sub mul smulhi udiv urem sdiv srem and or xor shl lshr ashr umin umax smin smax umulhi'.split(' ') as Op[];
const unary: readonly Op[] = ['clz', 'popcount', 'bitrev'];

/** Picks in turn: the numbers, and 0 when none is left. */
const picker = (numbers: readonly number[]): ((count: number) => number) => {
  let at = 0;
  return (count) => (numbers[at++] ?? 0) % count;
};

const constants = [
  0n,
  1n,
  2n,
  3n,
  4n,
  7n,
  8n,
  15n,
  16n,
  24n,
  31n,
  32n,
  63n,
  64n,
  255n,
  0xfff0n,
  0xffffn,
  1n << 31n,
  (1n << 32n) - 8n,
  -1n,
  -16n,
];

/** A straight line of integer instructions: special registers and constants, and what ops make of what is there. */
function randomDag(numbers: readonly number[]): Kernel {
  const pick = picker(numbers);
  const kernel = emptyKernel('dag');
  const block = addBlock(kernel);
  const b = builder(kernel, block);
  const ofType = (type: string): Value[] => block.body.filter((value) => kernel.insts[value]!.type === type);
  for (const name of ['tid.x', 'laneid', 'ctaid.y', 'nwarpid'] as const) b.sreg('i32', { name });
  for (const type of widths) for (let i = 0; i < 4; i++) b.const(type, BigInt.asUintN(bitsOf(type), constants[pick(constants.length)]!));
  b.icmp(ofType('i32')[0]!, ofType('i32')[4]!, { pred: 'ult' });
  const add = (inst: Inst): void => {
    kernel.locs.push(undefined);
    block.body.push((kernel.insts.push(inst) - 1) as Value);
  };
  for (let i = 0; i < 24; i++) {
    const type = widths[pick(widths.length)]!;
    const all = ofType(type);
    const any = (of: readonly Value[]): Value => of[of.length - 1 - pick(of.length)]!;
    const kind = pick(8);
    if (kind === 0) add({ op: unary[pick(unary.length)]!, type, a: any(all) } as Inst);
    else if (kind === 1) add({ op: 'select', type, cond: any(ofType('i1')), a: any(all), b: any(all) });
    else if (kind <= 3) {
      const from = [...widths, 'i1' as const].filter((each) => each !== type)[pick(4)]!;
      const op = bitsOf(from) > bitsOf(type) ? 'trunc' : pick(2) === 0 ? 'zext' : 'sext';
      add({ op, type, a: any(ofType(from)) });
    } else add({ op: binary[pick(binary.length)]!, type, a: any(all), b: any(all) } as Inst);
  }
  return kernel;
}

/** The bits of all values of a block. */
function evaluate(kernel: Kernel, registers: Readonly<Partial<Record<Sreg, bigint>>>): bigint[] {
  const bits: bigint[] = [];
  for (const value of kernel.blocks[0]!.body) {
    const inst = kernel.insts[value]!;
    const operands = operandsOf(inst);
    bits[value] = isEvaluableInst(inst)
      ? evalOp(
          inst,
          operands.map((operand) => bits[operand]!),
          operands.map((operand) => kernel.insts[operand]!.type),
        )
      : registers[(inst as InstOf<'sreg'>).name]!;
  }
  return bits;
}

const optionSets: readonly RangeOptions[] = [
  {},
  { depth: 1 },
  { depth: 40 },
  { usesWidths: false },
  { through: new Set<Op>(['and', 'zext', 'sext', 'shl']), depth: 64 },
  { usesWidths: false, ceiling: (1n << 31n) - 1n },
];

function assertClaims(kernel: Kernel, bits: readonly bigint[]): void {
  const zeros = trailingZeros(kernel);
  const known = knownBits(kernel);
  for (const value of kernel.blocks[0]!.body) {
    const { type, op } = kernel.insts[value]!;
    if (!isInt(type)) continue;
    const claim = known(value);
    const wrong = (bits[value]! & claim.zeros) | (~bits[value]! & claim.ones) | (bits[value]! & ~claim.open);
    assert.is(wrong, 0n, `${op} ${type} = ${bits[value]}: zeros ${claim.zeros}, ones ${claim.ones}, open ${claim.open}`);
  }
  for (const options of optionSets) {
    const ranges = valueRanges(kernel, options);
    for (const value of kernel.blocks[0]!.body) {
      const { type, op } = kernel.insts[value]!;
      if (!isInt(type)) continue;
      const what = `${op} ${type} = ${bits[value]} with ${Object.keys(options)}`;
      const max = ranges.unsignedMax(value);
      const far = ranges.signedMagnitude(value);
      assert.ok(max === undefined || bits[value]! <= max, `${what}: at most ${max}`);
      assert.ok(far === undefined || magnitude(bits[value]!, bitsOf(type)) <= far, `${what}: at most ${far} from 0`);
      const known = BigInt(Math.min(zeros[value]!, bitsOf(type)));
      assert.is(bits[value]! & ((1n << known) - 1n), 0n, `${what}: ${known} trailing zeros`);
    }
  }
}

test('what is claimed of random expressions holds for random inputs', () => {
  const numbers = fc.array(fc.nat(0xffff), { minLength: 150, maxLength: 200 });
  const ends = fc.array(fc.oneof(fc.nat(1023), fc.constantFrom(0, 1, 31, 32, 1023)), { minLength: 12, maxLength: 12 });
  fc.assert(
    fc.property(numbers, ends, (made, given) => {
      const kernel = randomDag(made);
      for (let i = 0; i < 3; i++) {
        const limits: Partial<Record<Sreg, bigint>> = sregMax;
        const at = (name: Sreg, n: number): bigint => BigInt(given[(n + 4 * i) % given.length]!) % ((limits[name] ?? 0xffff_ffffn) + 1n);
        const registers = Object.fromEntries(sregs.map((name, n) => [name, name === 'ctaid.y' ? 0xffff_fff0n : at(name, n)]));
        assertClaims(kernel, evaluate(kernel, registers));
      }
    }),
    { numRuns: 300, seed: 8 },
  );
});

test('random expressions are worth the test: bounds are found for many values of each op', () => {
  const [found, known] = [new Map<string, number>(), new Map<string, number>()];
  for (let seed = 0; seed < 60; seed++) {
    const draw = splitMix64(BigInt(seed));
    const kernel = randomDag(Array.from({ length: 200 }, () => Number(draw() % 65536n)));
    const ranges = valueRanges(kernel, { usesWidths: false });
    const bitsOfValue = knownBits(kernel);
    for (const value of kernel.blocks[0]!.body) {
      const { op, type } = kernel.insts[value]!;
      const claim = bitsOfValue(value);
      if (isInt(type) && (claim.zeros | claim.ones) !== 0n) known.set(op, (known.get(op) ?? 0) + 1);
      if (ranges.unsignedMax(value) !== undefined) found.set(op, (found.get(op) ?? 0) + 1);
    }
  }
  const bounded = 'add mul udiv urem and or xor shl lshr ashr umin umax smin smax select zext sext trunc clz popcount'.split(' ');
  assert.equal(
    bounded.filter((op) => (found.get(op) ?? 0) < 3),
    [],
  );
  const ofBits = 'add sub mul and or xor shl lshr ashr select zext sext trunc'.split(' ');
  assert.equal(
    ofBits.filter((op) => (known.get(op) ?? 0) < 3),
    [],
  );
});

/** The bound of the value that a kernel of these lines makes last. */
function lastOf(lines: string, options?: RangeOptions): [max: bigint | undefined, far: bigint | undefined, zeros: number] {
  const kernel = kernelOf(`kernel "k" {\nb0:\n${lines}\n  ret\n}\n`);
  const value = kernel.blocks[0]!.body.at(-1)!;
  const ranges = valueRanges(kernel, options);
  return [ranges.unsignedMax(value), ranges.signedMagnitude(value), trailingZeros(kernel)[value]!];
}

const tid = '  %0 = sreg i32 {name: tid.x}\n';

test('bounds of thread numbers, inclusive', () => {
  assert.equal(lastOf(tid), [1023n, 1023n, 0]);
  assert.equal(lastOf(`${tid}  %1 = const i32 2\n  %2 = shl i32 %0, %1`), [4092n, 4092n, 2]);
  assert.equal(lastOf(`${tid}  %1 = const i32 23\n  %2 = shl i32 %0, %1`), [(1n << 32n) - 1n, 1n << 31n, 23]);
  assert.equal(lastOf(`${tid}  %1 = add i32 %0, %0\n  %2 = const i32 5\n  %3 = lshr i32 %1, %2`), [63n, 63n, 0]);
  assert.equal(lastOf(`${tid}  %1 = sub i32 %0, %0`), [(1n << 32n) - 1n, 1n << 31n, 0]);
});

test('signs: constants, extensions, masks', () => {
  assert.equal(lastOf('  %0 = const i32 -5'), [(1n << 32n) - 5n, 5n, 0]);
  assert.equal(lastOf('  %0 = const i16 -8\n  %1 = sext i64 %0'), [(1n << 64n) - 1n, 8n, 3]);
  assert.equal(lastOf('  %0 = sreg i32 {name: ctaid.x}\n  %1 = sext i64 %0'), [(1n << 64n) - 1n, 1n << 31n, 0]);
  assert.equal(lastOf('  %0 = sreg i32 {name: ctaid.x}\n  %1 = const i32 -8\n  %2 = and i32 %0, %1'), [(1n << 32n) - 8n, 1n << 31n, 3]);
});

test('a remainder by 0 is the dividend, a shift by the width gives 0', () => {
  assert.equal(lastOf(`${tid}  %1 = const i32 0\n  %2 = urem i32 %0, %1`)[0], 1023n);
  assert.equal(lastOf(`${tid}  %1 = const i32 10\n  %2 = urem i32 %0, %1`)[0], 9n);
  assert.equal(lastOf('  %0 = sreg i32 {name: ctaid.x}\n  %1 = const i32 32\n  %2 = lshr i32 %0, %1')[0], 0n);
});

test('facts can be left out: depth, ops, registers, widths, bounds above a ceiling', () => {
  const sum = `${tid}  %1 = const i32 1\n  %2 = add i32 %0, %1`;
  assert.is(lastOf(sum, { depth: 0, usesWidths: false })[0], undefined);
  assert.is(lastOf(sum, { depth: 0 })[0], (1n << 32n) - 1n);
  assert.is(lastOf(sum, { through: new Set() })[0], (1n << 32n) - 1n);
  assert.is(lastOf(sum, { sregs: { 'tid.x': 63n } })[0], 64n);
  assert.is(lastOf(sum, { sregs: {}, usesWidths: false })[0], undefined);
  assert.is(lastOf(sum, { ceiling: 1024n })[0], 1024n);
  assert.is(lastOf(sum, { ceiling: 1023n })[0], undefined);
});

test('trailing zeros go around loops', () => {
  const kernel = kernelOf(`kernel "k" {
b0:
  %0 = const i32 32
  %1 = const i32 24
  br b1(%0, %0)
b1(%2: i32, %3: i32):
  %4 = add i32 %2, %1
  %5 = icmp i1 %4, %1 {pred: ult}
  condbr %5, b1(%4, %3), b2
b2:
  ret
}
`);
  const zeros = trailingZeros(kernel);
  const [first, second] = kernel.blocks[1]!.params;
  assert.equal([zeros[first!], zeros[second!]], [3, 5]);
  assert.is(allZeros, 64);
});

test.run();
