/** Jumps, tables, constants and alignment: where LLVM 14 puts them, and what they have to be. */
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Condition, conditions, general, immediate, type Label, memory, newAssembler, vector } from '../../../src/native/x64/index.ts';
import { randomFractions } from '../../support/lcg.ts';
import { scratch, tool } from '../../support/llvm.ts';
import { need } from '../../support/need.ts';
import { pick } from './cases.ts';

const test = suite('x64 jumps');
const file = scratch();
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** The bytes that LLVM makes of a text, whose labels are all in it. */
function assembledByLlvm(lines: readonly string[]): string {
  const text = file('text.s', new TextEncoder().encode(`.intel_syntax noprefix\n${lines.join('\n')}\n`));
  const object = file('text.o', new Uint8Array());
  const code = file('text.bin', new Uint8Array());
  tool('llvm-mc-14', ['-triple=x86_64', '-filetype=obj', text, '-o', object]);
  tool('llvm-objcopy-14', ['-O', 'binary', '--only-section=.text', object, code]);
  return readFileSync(code).toString('hex');
}

/** A random program as the assembler and as LLVM see it. */
function randomProgram(seed: number, alignments: readonly number[]): { ours: string; lines: string[] } {
  const fractions = randomFractions(seed);
  const below = (limit: number) => Math.floor(fractions() * limit);
  const out = newAssembler({ avx512: true });
  const labels: Label[] = Array.from({ length: 12 }, () => out.newLabel());
  const padding: (readonly [Label, Label])[] = [];
  const lines: string[] = [];
  const names = Object.keys(conditions) as Condition[];
  const step = () => {
    const to = below(labels.length);
    const condition = pick(below, names);
    const number = below(16);
    const kind = below(12);
    if (kind < 2) {
      out.jump(labels[to]!);
      lines.push(`jmp L${to}`);
    } else if (kind < 4) {
      out.jumpIf(condition, labels[to]!);
      lines.push(`j${condition} L${to}`);
    } else if (kind === 4) {
      out.call(labels[to]!);
      lines.push(`call L${to}`);
    } else if (kind === 5) {
      out.setIf(condition, number);
      lines.push(`set${condition} ${['al', 'cl', 'dl', 'bl', 'spl', 'bpl', 'sil', 'dil'][number] ?? `r${number}b`}`);
    } else if (kind === 6) {
      out.moveIf(condition, general(number), memory(8, 16));
      lines.push(`cmov${condition} ${['rax', 'rcx', 'rdx', 'rbx', 'rsp', 'rbp', 'rsi', 'rdi'][number] ?? `r${number}`}, [r8 + 16]`);
    } else if (kind === 7) {
      out.emit('lea', general(3), { kind: 'memory', displacement: 5, label: labels[to]! });
      lines.push(`lea rbx, [rip + L${to} + 5]`);
    } else if (kind === 8 && alignments.length > 0) {
      const bytes = pick(below, alignments);
      const [before, after] = [out.newLabel(), out.newLabel()];
      out.bind(before);
      out.align(bytes);
      out.bind(after);
      padding.push([before, after]);
      lines.push(`.p2align ${Math.log2(bytes)}, 0xcc`);
    } else {
      out.emit('vpermq', vector(17, 64), memory(3, 8), immediate(3));
      lines.push('vpermq zmm17, zmmword ptr [rbx + 8], 3');
    }
  };
  for (let i = 0; i < labels.length; i++) {
    for (let count = below(30); count > 0; count--) step();
    out.bind(labels[i]!);
    lines.push(`L${i}:`);
  }
  const bytes = out.finish();
  // What fills gaps is not compared.
  for (const [before, after] of padding) bytes.fill(0xcc, out.offsetOf(before), out.offsetOf(after));
  return { ours: hex(bytes), lines };
}

need(test, ['llvm-mc-14', 'llvm-objcopy-14'], 'random programs without alignment', () => {
  for (let seed = 0; seed < 20; seed++) {
    const { ours, lines } = randomProgram(seed, []);
    assert.is(ours, assembledByLlvm(lines), `seed ${seed}`);
  }
});

need(test, ['llvm-mc-14', 'llvm-objcopy-14'], 'random programs with alignment', () => {
  for (let seed = 0; seed < 20; seed++) {
    const { ours, lines } = randomProgram(seed, [8, 16, 32, 64]);
    assert.is(ours, assembledByLlvm(lines), `seed ${seed}`);
  }
});

test('a jump is short up to 127 bytes forwards and 128 backwards', () => {
  const sizeWith = (filler: number, isForward: boolean): number => {
    const out = newAssembler({ avx512: false });
    const label = out.newLabel();
    if (isForward) out.jump(label);
    else out.bind(label);
    for (let i = 0; i < filler; i++) out.emit('nop');
    if (isForward) out.bind(label);
    else out.jumpIf('e', label);
    return out.finish().length - filler;
  };
  assert.equal([sizeWith(127, true), sizeWith(128, true), sizeWith(126, false), sizeWith(127, false)], [2, 5, 2, 6]);
});

test('equal constants are there once, aligned to their size, behind the code', () => {
  const out = newAssembler({ avx512: true });
  const operands = [[1, 2, 3, 4], new Array(64).fill(7), new Array(16).fill(9), [1, 2, 3, 4]].map((bytes) => out.constant(bytes));
  assert.is(operands[0], operands[3]);
  out.emit('vmovd', vector(1), operands[0]!);
  out.emit('vmovups', vector(1, 64), operands[1]!);
  out.emit('vmovups', vector(1), operands[2]!);
  out.emit('ret');
  const bytes = out.finish();
  const offsets = operands.map((operand) => out.offsetOf(operand.label!));
  assert.equal(offsets, [64 + 64 + 16, 64, 128, 144]);
  assert.equal([...bytes.subarray(144)], [1, 2, 3, 4]);
  assert.equal([...bytes.subarray(128, 144)], new Array(16).fill(9));
  // The displacement of the first instruction counts from its end, at 8.
  assert.is(hex(bytes.subarray(0, 8)), `c5f96e0d${(144 - 8).toString(16)}000000`);
});

test('a table has the distances of labels from its start', () => {
  const out = newAssembler({ avx512: false });
  const labels = [out.newLabel(), out.newLabel()];
  out.jumpTable(1, 2, labels);
  for (const label of labels) {
    out.bind(label);
    out.emit('ret');
  }
  const bytes = out.finish();
  // lea rdx, [rip + 9]; add rdx, [rdx + 8 * rcx]; jmp rdx
  assert.is(hex(bytes.subarray(0, 15)), '488d1509000000480314caffe2c3c3');
  const table = new BigInt64Array(bytes.slice(16).buffer);
  assert.equal(
    [...table],
    labels.map((label) => BigInt(out.offsetOf(label) - 16)),
  );
  assert.equal([...table], [-3n, -2n]);
});

test('labels without a place, and with two, are bugs', () => {
  const out = newAssembler({ avx512: false });
  const label = out.newLabel();
  out.jump(label);
  assert.throws(() => out.finish(), /label 0 is not bound/);
  out.bind(label);
  assert.throws(() => out.bind(label), /bound twice/);
});

test('what aligns code is few instructions that do nothing', () => {
  const out = newAssembler({ avx512: false });
  out.emit('ret');
  out.align(16);
  assert.is(hex(out.finish()), 'c366' + '0f1f840000000000' + '660f1f440000');
});

test.run();
