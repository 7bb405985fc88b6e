/** The builder that folds: results of constants worked out by hand, operands that stay, and what is left alone. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { addBlock, type Builder, constantOf, emptyKernel, type Value } from '../../src/ir/index.ts';
import { FoldingBuilder } from '../../src/lower/folding-builder.ts';
import { entry, kernelOf } from './lowered.ts';

const test = suite('lower/folding-builder');

function newBuilder(): Builder {
  const kernel = emptyKernel('k');
  return new FoldingBuilder({ kernel, block: addBlock(kernel), loc: undefined });
}

const bits = (ir: Builder, value: Value): bigint | undefined => constantOf(ir.kernel, value);

test('operations of constants are constants', () => {
  const ir = newBuilder();
  const word = (value: number): Value => ir.const('i32', value);
  const cases: readonly (readonly [Value, bigint])[] = [
    [ir.and(word(12), word(10)), 8n],
    [ir.or(word(12), word(10)), 14n],
    [ir.xor(word(12), word(-1)), 0xffff_fff3n],
    [ir.add(word(-1), word(3)), 2n],
    [ir.sub(word(1), word(3)), 0xffff_fffen],
    [ir.mul(word(0x10001), word(0x10001)), 0x20001n],
    [ir.shl(word(3), word(31)), 0x8000_0000n],
    [ir.lshr(word(-1), word(28)), 15n],
    [ir.ashr(word(-8), word(2)), 0xffff_fffen],
    [ir.zext('i64', word(-1)), 0xffff_ffffn],
    [ir.sext('i64', word(-2)), 0xffff_ffff_ffff_fffen],
    [ir.trunc('i16', word(0x12345)), 0x2345n],
    [ir.icmp(word(-1), word(0), { pred: 'slt' }), 1n],
    [ir.icmp(word(-1), word(0), { pred: 'ult' }), 0n],
    [ir.select(ir.const('i1', 0), word(5), word(6)), 6n],
    [ir.select(ir.const('i1', 1), word(5), word(6)), 5n],
  ];
  for (const [i, [value, expected]] of cases.entries()) assert.is(bits(ir, value), expected, `${i}`);
  assert.ok(ir.kernel.insts.every(({ op }) => op === 'const'));
});

test('an operand that an operation leaves as it is stays the value, and what 0 makes of it is 0', () => {
  const ir = newBuilder();
  const x = ir.sreg('i32', { name: 'tid.x' });
  const [zero, one] = [ir.const('i32', 0), ir.const('i32', 1)];
  for (const op of ['or', 'xor', 'add', 'sub', 'shl', 'lshr', 'ashr'] as const) {
    assert.is(ir[op](x, zero), x, op);
    assert.is(ir.kernel.insts[ir[op](zero, x)]!.op, op, 'a constant before the operand');
    assert.is(ir.kernel.insts[ir[op](x, one)]!.op, op);
  }
  assert.is(bits(ir, ir.and(x, zero)), 0n);
  assert.is(bits(ir, ir.mul(x, zero)), 0n);
  assert.is(ir.kernel.insts[ir.and(x, one)]!.op, 'and');
  assert.is(ir.kernel.insts[ir.icmp(x, zero, { pred: 'uge' })]!.op, 'icmp');
});

test('floats are left alone, whose zeros have signs', () => {
  const ir = newBuilder();
  const [a, b] = [ir.const('f32', 0x3f800000), ir.const('f32', 0)];
  assert.is(ir.kernel.insts[ir.fadd(a, b)]!.op, 'fadd');
  assert.is(ir.kernel.insts[ir.fmul(a, b)]!.op, 'fmul');
});

/** The operations that the lowering of an instruction makes. */
function opsOf(instruction: string): string[] {
  const text = `.reg .b32 %r<9>; .reg .b64 %d; ld.param.u64 %d, [p]; mov.u32 %r0, %tid.x;\n${instruction}\nst.global.u32 [%d], %r1;`;
  const { blocks, insts } = kernelOf(entry('.param .u64 p', text));
  return blocks.flatMap(({ body }) => body.map((value) => insts[value]!.op));
}

test('an exchange with a lane that is always there has no test', () => {
  for (const instruction of ['shfl.sync.bfly.b32 %r1, %r0, 16, 31, -1;', 'shfl.sync.idx.b32 %r1, %r0, 40, 0x1f, -1;']) {
    const ops = opsOf(instruction);
    assert.not(ops.includes('icmp') || ops.includes('select'), instruction);
  }
  // Lane 31 - 1 is in every warp, and lane 0 - 1 and the upper half of 16 lanes are not.
  for (const instruction of [
    'shfl.sync.up.b32 %r1, %r0, 1, 0, -1;',
    'shfl.sync.bfly.b32 %r1, %r0, 16, 15, -1;',
    'shfl.sync.down.b32 %r1, %r0, 1, 31, -1;',
  ]) {
    const ops = opsOf(instruction);
    assert.ok(ops.includes('icmp') && ops.includes('select'), instruction);
  }
});

test.run();
