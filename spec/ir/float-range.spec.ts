/** Bounds of floats: what the analysis claims holds for random expressions of random inputs, and what it finds of some. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  addBlock,
  type Builder,
  builder,
  emptyKernel,
  evalOp,
  floatOf,
  floatRange,
  isEvaluableInst,
  type Kernel,
  operandsOf,
  type Value,
} from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';

const test = suite('ir/float-range');
const random = splitMix64(3n);
const draw = (below: number): number => Number(random() % BigInt(below));

const constants = [0, -0, 0.5, 1, -1, 2 ** -126, 2 ** 23, 3e38, Infinity, 12582913, -0.25];
const bitsOfFloat = (x: number): bigint => BigInt(new Uint32Array(Float32Array.of(x).buffer)[0]!);

/** A float of an input whose bits are partly known, or a constant. */
function leaf(b: Builder, input: Value): Value {
  if (draw(3) === 0) return b.const('f32', bitsOfFloat(constants[draw(constants.length)]!));
  const high = [0x3f80_0000, 0x4000_0000, 0x0080_0000, 0xbf80_0000, 0][draw(5)]!;
  const mask = [0x007f_ffff, 0x00ff_ffff, 0x7f, 0xffff_ffff, 0x8000_0000][draw(5)]!;
  return b.bitcast('f32', b.or(b.and(input, b.const('i32', mask)), b.const('i32', high)));
}

function randomFloat(b: Builder, known: readonly Value[]): Value {
  const of = (): Value => known[draw(known.length)]!;
  const a = of();
  const kinds = [
    () => b.fadd(a, of()),
    () => b.fsub(a, of()),
    () => b.fmul(a, draw(3) === 0 ? a : of()),
    () => b.fma(a, draw(3) === 0 ? a : of(), of()),
    () => b.fabs(a),
    () => b.fneg(a),
    () => b.ffloor(a),
    () => b.ftz(a),
    () => b.frint(a),
    () => b.fsqrt(a),
    () => b.select(b.fcmp(a, b.const('f32', 0x3f800000), { pred: 'olt' }), a, b.const('f32', 0x3f800000)),
  ];
  return kinds[draw(kinds.length)]!();
}

/** The bits of every value, for bits of the input. */
function evaluate(kernel: Kernel, input: bigint): Map<Value, bigint> {
  const bits = new Map<Value, bigint>();
  for (const value of kernel.blocks[0]!.body) {
    const inst = kernel.insts[value]!;
    const types = operandsOf(inst).map((operand) => kernel.insts[operand]!.type);
    const found =
      inst.op === 'sreg'
        ? input
        : inst.op === 'const'
          ? inst.bits
          : isEvaluableInst(inst)
            ? evalOp(
                inst,
                operandsOf(inst).map((operand) => bits.get(operand)!),
                types,
              )
            : undefined;
    if (found !== undefined) bits.set(value, found);
  }
  return bits;
}

test('claims hold for random expressions', () => {
  let narrow = 0;
  for (let trial = 0; trial < 300; trial++) {
    const kernel = emptyKernel('range');
    const b = builder(kernel, addBlock(kernel));
    const input = b.sreg('i32', { name: 'tid.x' });
    const floats = Array.from({ length: 5 }, () => leaf(b, input));
    for (let i = 0; i < 12; i++) floats.push(randomFloat(b, floats));
    const ranges = floats.map((value) => floatRange(kernel, value));
    narrow += ranges.filter(({ low, high }) => low > 0 || high < 0).length;
    for (let i = 0; i < 8; i++) {
      const bits = evaluate(kernel, random() & 0xffff_ffffn);
      for (const [n, value] of floats.entries()) {
        const { low, high, isNan } = ranges[n]!;
        const number = floatOf(bits.get(value)!);
        if (Number.isNaN(number)) assert.ok(isNan, `${trial} ${n}: NaN`);
        else assert.ok(number >= low && number <= high, `${trial} ${n}: ${number} not in ${low} to ${high}`);
      }
    }
  }
  assert.ok(narrow > 300, `${narrow}`);
});

test('squares, reciprocals and floats of known bits', () => {
  const kernel = emptyKernel('known');
  const b = builder(kernel, addBlock(kernel));
  const x = b.bitcast('f32', b.sreg('i32', { name: 'tid.x' }));
  const above = b.fma(x, x, b.const('f32', 0x3f800000));
  assert.is(floatRange(kernel, above).low, 1);
  const less = floatRange(kernel, b.frcp(above));
  assert.ok(less.low === 0 && less.high > 1 && less.high < 1.001, JSON.stringify(less));
  // The least is a subnormal, which a device may take for zero: its reciprocal is infinite there, and else below 2^127.
  const small = b.bitcast('f32', b.or(b.and(b.sreg('i32', { name: 'tid.x' }), b.const('i32', 0x3f800000)), b.const('i32', 0x600000)));
  assert.is(floatRange(kernel, b.frcp(small)).high, Infinity);
  const mantissa = b.or(b.and(b.sreg('i32', { name: 'tid.x' }), b.const('i32', 0x7fffff)), b.const('i32', 0x3f800000));
  const range = floatRange(kernel, b.bitcast('f32', mantissa));
  assert.equal(range, { low: 1, high: 2 - 2 ** -23, isNan: false });
  assert.equal(floatRange(kernel, x), { low: -Infinity, high: Infinity, isNan: true });
});

test.run();
