/**
 * Offsets of 32 bits in shared memory: the index that an access has, times its size, is the offset that the kernel computes, for any bits of the words in it;
 * and so is the offset that AIR is read as.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emitKernel, raiseModule, targets, validateAir } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { sizeOf } from '../../src/bitcode/layout.ts';
import type { Instruction, Value as LlvmValue, Module } from '../../src/bitcode/model.ts';
import { type Builder, evalOp, type InstOf, isEvaluableInst, type Kernel, optimize, type Type, type Value } from '../../src/ir/index.ts';
import { operandsOf } from '../../src/ir/operands.ts';
import { oneBlock, pointerParam } from '../support/kernels.ts';
import { randomFractions } from '../support/lcg.ts';

const test = suite('air quotients');
const words = 3;
const mask = (bits: number): bigint => (1n << BigInt(bits)) - 1n;

/** The words that a kernel loads, and the thread. */
interface Inputs {
  readonly words: readonly bigint[];
  readonly thread: bigint;
}

const threadOf = ({ thread }: Inputs): bigint => thread;

type Draw = (below: number) => number;

/** A random sum of multiples of a power of two. */
function multiple(b: Builder, given: readonly Value[], draw: Draw, shift: number, depth: number): Value {
  const number = (bits: number): Value => b.const('i32', bits >>> 0);
  const any = (): Value => given[draw(given.length)]!;
  const low = -1 << shift;
  if (depth === 0 || draw(5) === 0) {
    const kind = draw(8);
    if (kind === 6) return b.and(b.shl(any(), number(draw(32))), number((draw(2) ? draw(2 ** 32) : draw(2048)) & low));
    if (kind === 7) return b.mul(any(), number(draw(2 ** 32) & low));
    if (kind === 0) return number(draw(2 ** 32) & low);
    if (kind === 1) return b.and(b.lshr(any(), number(draw(32))), number((draw(2) ? draw(2 ** 32) : draw(2048)) & low));
    if (kind === 2) return b.shl(b.and(any(), number(draw(1024))), number(shift + draw(8)));
    return b.shl(any(), number(shift + draw(32 - shift)));
  }
  const next = (): Value => multiple(b, given, draw, shift, depth - 1);
  const op = (['add', 'add', 'add', 'sub', 'or', 'xor'] as const)[draw(6)]!;
  if (draw(6) === 0) return b.and(next(), number((draw(2) ? draw(2 ** 32) : draw(65536)) & low));
  return b[op](next(), next());
}

const sizes: readonly (readonly [Type, number])[] = [
  ['i8', 0],
  ['i16', 1],
  ['f32', 2],
  ['i64', 3],
  ['v4.f32', 4],
];

/** A kernel that stores at an offset, and the value of the offset. */
function kernelOf(draw: Draw): { kernel: Kernel; offset: Value } {
  const [type, least] = sizes[draw(sizes.length)]!;
  // Offsets that are no multiples of the size are those of accesses with less alignment.
  const shift = draw(4) === 0 ? draw(least + 1) : least + draw(2);
  let offset = 0 as Value;
  const kernel = oneBlock('k', [pointerParam('a', 0, 'i32', 'read')], (b) => {
    const p = b.param('ptr.global', { index: 0 });
    const loads = Array.from({ length: words }, (_, i) => b.load('i32', b.ptradd(p, b.const('i64', 4 * i)), { align: 4, volatile: false }));
    offset = multiple(b, [...loads, b.sreg('i32', { name: 'tid.x' })], draw, shift, draw(5));
    // An index of 32 bits times a size has more than 32.
    const scaled = draw(4) === 0 ? b.shl(b.zext('i64', loads[0]!), b.const('i64', shift)) : b.zext('i64', offset);
    const far = b.ptradd(b.variable('ptr.shared', { name: 'data' }), scaled);
    const at = draw(2) ? far : b.ptradd(far, b.const('i64', draw(16) * 16));
    const zero = type === 'v4.f32' ? undefined : b.const(type, 0);
    const lane = b.const('f32', 0);
    b.store(at, zero ?? b.vec4(type, lane, lane, lane, lane), { align: Math.min(1 << shift, 1 << least), volatile: false });
  });
  kernel.variables.push({ name: 'data', space: 'shared', size: 4096, align: 16, isDynamic: false, init: undefined, element: 'f32' });
  return { kernel, offset };
}

/** The bits of a value of the IR; the addresses of variables and of the buffer are 0. */
function valueIn(kernel: Kernel, value: Value, inputs: Inputs): bigint {
  const inst = kernel.insts[value]!;
  if (inst.op === 'const') return inst.bits;
  if (inst.op === 'load') return inputs.words[Number(valueIn(kernel, inst.addr, inputs)) / 4]!;
  if (inst.op === 'param') return 0n;
  if (inst.op === 'sreg') return threadOf(inputs);
  if (inst.op === 'variable') return 0n;
  const operands = operandsOf(inst).map((operand) => valueIn(kernel, operand, inputs));
  if (inst.op === 'ptradd') return BigInt.asUintN(64, operands[0]! + operands[1]!);
  assert.ok(isEvaluableInst(inst), inst.op);
  return evalOp(
    inst as InstOf<'add'>,
    operands,
    operandsOf(inst).map((operand) => kernel.insts[operand]!.type),
  );
}

const addressOf = (kernel: Kernel): Value => {
  const store = kernel.blocks.flatMap(({ body }) => body).find((each) => kernel.insts[each]!.op === 'store')!;
  return (kernel.insts[store] as InstOf<'store'>).addr;
};

/** The bits of a value of LLVM, with the rules of its reference; the addresses of the window and of the buffer are 0. */
function llvmValue(value: LlvmValue, inputs: Inputs): bigint {
  const of = (operand: LlvmValue): bigint => llvmValue(operand, inputs);
  const gep = (
    { sourceType, indices }: { sourceType: Parameters<typeof sizeOf>[0]; indices: readonly LlvmValue[] },
    base: bigint,
  ): bigint => {
    const sum = indices.reduce((all, index, depth) => {
      const type = depth > 0 && sourceType.kind === 'array' ? sourceType.element : sourceType;
      return all + of(index) * BigInt(sizeOf(type));
    }, base);
    return BigInt.asUintN(64, sum);
  };
  if (value.kind === 'global') return 0n;
  if (value.kind === 'argument') return value.type.kind === 'pointer' ? 0n : threadOf(inputs);
  if (value.kind === 'constant') {
    if (value.form === 'int') return value.value;
    if (value.form === 'cast') return of(value.value);
    if (value.form === 'gep') return gep(value, of(value.base));
  }
  if (value.kind !== 'instruction') return assert.unreachable(value.kind) as never;
  if (value.op === 'load') return inputs.words[Number(of(value.pointer)) / 4]!;
  if (value.op === 'extractelement') return threadOf(inputs);
  if (value.op === 'cast') return of(value.value) & mask(value.type.kind === 'int' ? value.type.bits : 64);
  if (value.op === 'gep') return gep(value, of(value.base));
  assert.is(value.op, 'binary');
  if (value.op !== 'binary' || value.type.kind !== 'int') return 0n;
  const [a, b] = [of(value.a), of(value.b)];
  if (['shl', 'lshr'].includes(value.opcode)) assert.ok(b < BigInt(value.type.bits), 'poison');
  const results: Partial<Record<string, bigint>> = { add: a + b, sub: a - b, mul: a * b, and: a & b, or: a | b, xor: a ^ b };
  const result = value.opcode === 'shl' ? a << b : value.opcode === 'lshr' ? a >> b : results[value.opcode]!;
  // Exact: no bit that is 1 is lost.
  if (value.opcode === 'lshr' && value.flags & 1) assert.is(result << b, a);
  return BigInt.asUintN(value.type.bits, result);
}

function emitted(kernel: Kernel): Module {
  const diagnostics = new Diagnostics();
  const module = emitKernel(kernel, targets.macos15, diagnostics);
  assert.ok(validateAir(module, diagnostics));
  assert.equal(diagnostics.list, []);
  return module;
}

test('the index of an access times its size is the offset, before and after AIR', () => {
  const random = randomFractions(27);
  const draw: Draw = (below) => Math.floor(random() * below);
  let divided = 0;
  for (let turn = 0; turn < 600; turn++) {
    const { kernel } = kernelOf(draw);
    const address = addressOf(kernel);
    const before = {
      ...kernel,
      insts: kernel.insts.map((inst) => ({ ...inst })),
      blocks: kernel.blocks.map((each) => ({ ...each, body: [...each.body] })),
    };
    if (draw(2)) optimize(kernel);
    const module = emitted(kernel);
    const insts = module.functions[0]!.blocks.flatMap(({ body }) => body);
    const store = insts.find((inst): inst is Extract<Instruction, { op: 'store' }> => inst.op === 'store')!;
    if (!insts.some((inst) => inst.op === 'binary' && inst.opcode === 'lshr' && inst.flags & 1)) divided++;
    const [raised] = raiseModule(module, new Diagnostics());
    for (let each = 0; each < 12; each++) {
      const inputs = { words: Array.from({ length: words }, () => BigInt(draw(4) ? draw(2 ** 32) : draw(64))), thread: BigInt(draw(1024)) };
      const expected = valueIn(before as Kernel, address, inputs);
      assert.is(llvmValue(store.pointer, inputs), expected, `kernel ${turn}`);
      const again = raised!.kernel;
      assert.is(valueIn(again, addressOf(again), inputs), expected, `kernel ${turn} raised`);
    }
  }
  assert.ok(divided > 300, `${divided}`);
});

test.run();
