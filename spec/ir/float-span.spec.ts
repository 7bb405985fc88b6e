/** The places that floats span: what the analysis claims holds for random expressions of random inputs, and what it finds of some. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  addBlock,
  type Builder,
  builder,
  emptyKernel,
  evalOp,
  floatSpan,
  isEvaluableInst,
  type Kernel,
  operandsOf,
  type Value,
} from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';

const test = suite('ir/float-span');
const random = splitMix64(5n);
const draw = (below: number): number => Number(random() % BigInt(below));

type Wide = 'f32' | 'f64';
const view = new DataView(new ArrayBuffer(8));
function bitsOfFloat(type: Wide, x: number): bigint {
  if (type === 'f32') view.setFloat32(0, x);
  else view.setFloat64(0, x);
  return type === 'f32' ? BigInt(view.getUint32(0)) : view.getBigUint64(0);
}
function floatOf(type: Wide, bits: bigint): number {
  if (type === 'f32') view.setUint32(0, Number(bits));
  else view.setBigUint64(0, bits);
  return type === 'f32' ? view.getFloat32(0) : view.getFloat64(0);
}

const constants = [0, -0, 0.75, 1, -40, 2 ** -27, 2 ** -100, 2 ** -149, 3 * 2 ** -140, 2 ** 23, 12582913, 0.1, 2 ** 127, Infinity];

/** An integer as a float, any bits, or a constant. */
function leaf(b: Builder, type: Wide, input: Value): Value {
  const kinds = [
    () => b.sitofp(type, b.ashr(input, b.const('i32', draw(31)))),
    () => b.uitofp(type, b.lshr(input, b.const('i32', draw(31)))),
    () => (type === 'f32' ? b.bitcast('f32', input) : b.fpext('f64', b.bitcast('f32', input))),
    () => b.const(type, bitsOfFloat(type, constants[draw(constants.length)]!)),
  ];
  return kinds[draw(9) % kinds.length]!();
}

function randomFloat(b: Builder, type: Wide, known: readonly Value[]): Value {
  const of = (): Value => known[draw(known.length)]!;
  const a = of();
  const kinds = [
    () => b.fadd(a, of()),
    () => b.fsub(a, of()),
    () => b.fmul(a, of()),
    () => b.fma(a, of(), of()),
    () => b.fabs(a),
    () => b.fneg(a),
    () => b.ffloor(a),
    () => (type === 'f32' ? b.ftz(a) : b.fneg(a)),
    () => b.frint(a),
    () => b.fmax(a, of()),
    () => b.fsqrt(a),
    () => b.bitcast(type, b.bitcast(type === 'f32' ? 'i32' : 'i64', a)),
    () => b.select(b.fcmp(a, of(), { pred: 'olt' }), of(), a),
    () => (type === 'f32' ? b.fptrunc('f32', b.fpext('f64', a)) : b.fpext('f64', b.fptrunc('f32', a))),
  ];
  return kinds[draw(kinds.length)]!();
}

/** The bits of every value, for bits of the input. */
function evaluate(kernel: Kernel, input: bigint): Map<Value, bigint> {
  const bits = new Map<Value, bigint>();
  for (const value of kernel.blocks[0]!.body) {
    const inst = kernel.insts[value]!;
    const operands = operandsOf(inst);
    const types = operands.map((operand) => kernel.insts[operand]!.type);
    const given = (): readonly bigint[] => operands.map((operand) => bits.get(operand)!);
    if (inst.op === 'sreg') bits.set(value, input);
    else if (inst.op === 'const') bits.set(value, inst.bits);
    else if (isEvaluableInst(inst)) bits.set(value, evalOp(inst, given(), types)!);
  }
  return bits;
}

/** Whether a number is a multiple of a power of two; doubles have 1074 binary places at most. */
function isMultiple(x: number, low: number): boolean {
  if (x === 0) return true;
  const bits = bitsOfFloat('f64', Math.abs(x));
  const [field, fraction] = [Number(bits >> 52n), bits & ((1n << 52n) - 1n)];
  const units = (field === 0 ? fraction : fraction | (1n << 52n)) << BigInt(Math.max(field, 1) - 1);
  return units % (1n << BigInt(Math.max(0, low + 1074))) === 0n;
}

for (const type of ['f32', 'f64'] as const)
  test(`claims hold for random expressions of ${type}`, () => {
    let [coarse, bounded] = [0, 0];
    for (let trial = 0; trial < 300; trial++) {
      const kernel = emptyKernel('span');
      const b = builder(kernel, addBlock(kernel));
      const input = b.sreg('i32', { name: 'tid.x' });
      const floats = Array.from({ length: 6 }, () => leaf(b, type, input));
      for (let i = 0; i < 12; i++) floats.push(randomFloat(b, type, floats));
      const spans = floats.map((value) => floatSpan(kernel, value));
      coarse += spans.filter(({ low }) => low > -126).length;
      bounded += spans.filter(({ high }) => high < 127).length;
      for (let i = 0; i < 6; i++) {
        const bits = evaluate(kernel, random() & 0xffff_ffffn);
        for (const [n, value] of floats.entries()) {
          const [number, { low, high }] = [floatOf(type, bits.get(value)!), spans[n]!];
          assert.ok(high === Infinity || Math.abs(number) <= 2 ** high, `${trial} ${n}: ${number} is above 2^${high}`);
          if (Number.isFinite(number)) assert.ok(isMultiple(number, low), `${trial} ${n}: ${number} is no multiple of 2^${low}`);
        }
      }
    }
    assert.ok(coarse > 1500 && bounded > 1000, `${coarse} ${bounded}`);
  });

test('integers with a scale and an offset', () => {
  const kernel = emptyKernel('known');
  const b = builder(kernel, addBlock(kernel));
  const float = (x: number): Value => b.const('f32', bitsOfFloat('f32', x));
  const whole = b.uitofp('f32', b.sreg('i32', { name: 'tid.x' }));
  const middle = b.fadd(whole, float(0.5));
  assert.equal(floatSpan(kernel, whole), { low: 0, high: 32 });
  assert.equal(floatSpan(kernel, middle), { low: -1, high: 33 });
  // 40 is five times 2^3, and below 2^6.
  assert.equal(floatSpan(kernel, b.fmul(middle, float(40))), { low: 2, high: 39 });
  assert.equal(floatSpan(kernel, b.fma(middle, float(2 ** -24), float(-0.5))), { low: -25, high: 10 });
  // A product below all floats is rounded to a multiple of the least.
  assert.equal(floatSpan(kernel, b.fmul(b.fmul(whole, float(2 ** -100)), float(2 ** -100))), { low: -149, high: -168 });
  assert.equal(floatSpan(kernel, b.bitcast('f32', b.sreg('i32', { name: 'tid.x' }))), { low: -149, high: Infinity });
});

test.run();
