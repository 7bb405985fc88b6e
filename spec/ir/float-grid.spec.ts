/** Powers of two that floats are multiples of: what the analysis claims holds for random expressions of random inputs, and what it finds of some. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  addBlock,
  type Builder,
  builder,
  emptyKernel,
  evalOp,
  floatGrid,
  floatOf,
  isEvaluableInst,
  type Kernel,
  operandsOf,
  type Value,
} from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';

const test = suite('ir/float-grid');
const random = splitMix64(5n);
const draw = (below: number): number => Number(random() % BigInt(below));
const bitsOfFloat = (x: number): bigint => BigInt(new Uint32Array(Float32Array.of(x).buffer)[0]!);
const constants = [0, -0, 0.75, 1, -40, 2 ** -27, 2 ** -100, 2 ** -149, 3 * 2 ** -140, 2 ** 23, 12582913, Math.fround(0.1)];

/** An integer as a float, any bits, or a constant. */
function leaf(b: Builder, input: Value): Value {
  const kinds = [
    () => b.sitofp('f32', b.ashr(input, b.const('i32', draw(31)))),
    () => b.uitofp('f32', b.lshr(input, b.const('i32', draw(31)))),
    () => b.bitcast('f32', input),
    () => b.const('f32', bitsOfFloat(constants[draw(constants.length)]!)),
  ];
  return kinds[draw(9) % kinds.length]!();
}

function randomFloat(b: Builder, known: readonly Value[]): Value {
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
    () => b.frint(a),
    () => b.fmax(a, of()),
    () => b.fsqrt(a),
    () => b.select(b.fcmp(a, of(), { pred: 'olt' }), of(), a),
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

/** Whether a finite float is a multiple of a power of two; a float has 149 binary places at most. */
function isMultiple(x: number, grid: number): boolean {
  const places = 149;
  const units = BigInt(Math.abs(x) * 2 ** 60 * 2 ** (places - 60));
  return units % (1n << BigInt(Math.max(0, grid + places))) === 0n;
}

test('claims hold for random expressions', () => {
  let coarse = 0;
  for (let trial = 0; trial < 400; trial++) {
    const kernel = emptyKernel('grid');
    const b = builder(kernel, addBlock(kernel));
    const input = b.sreg('i32', { name: 'tid.x' });
    const floats = Array.from({ length: 6 }, () => leaf(b, input));
    for (let i = 0; i < 12; i++) floats.push(randomFloat(b, floats));
    const grids = floats.map((value) => floatGrid(kernel, value));
    coarse += grids.filter((grid) => grid > -126).length;
    for (let i = 0; i < 6; i++) {
      const bits = evaluate(kernel, random() & 0xffff_ffffn);
      for (const [n, value] of floats.entries()) {
        const number = floatOf(bits.get(value)!);
        if (Number.isFinite(number)) assert.ok(isMultiple(number, grids[n]!), `${trial} ${n}: ${number} is no multiple of 2^${grids[n]}`);
      }
    }
  }
  assert.ok(coarse > 2000, `${coarse}`);
});

test('integers with a scale and an offset', () => {
  const kernel = emptyKernel('known');
  const b = builder(kernel, addBlock(kernel));
  const float = (x: number): Value => b.const('f32', bitsOfFloat(x));
  const whole = b.uitofp('f32', b.sreg('i32', { name: 'tid.x' }));
  const middle = b.fadd(whole, float(0.5));
  assert.is(floatGrid(kernel, whole), 0);
  assert.is(floatGrid(kernel, middle), -1);
  // 40 is five times 2^3.
  assert.is(floatGrid(kernel, b.fmul(middle, float(40))), 2);
  assert.is(floatGrid(kernel, b.fma(middle, float(2 ** -24), float(-0.5))), -25);
  // A product below all floats is rounded to a multiple of the least.
  assert.is(floatGrid(kernel, b.fmul(b.fmul(whole, float(2 ** -100)), float(2 ** -100))), -149);
  assert.is(floatGrid(kernel, b.bitcast('f32', b.sreg('i32', { name: 'tid.x' }))), -149);
});

test.run();
