/** Encodings of instructions: those that LLVM 14 gave to one of each kind, and those that it gives to random ones of every form. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { general, immediate, mask, memory, newAssembler, type Operand, sized, vector } from '../../../src/native/x64/index.ts';
import { randomFractions } from '../../support/lcg.ts';
import { need } from '../../support/need.ts';
import { everyForm, isReachable, randomCase } from './cases.ts';
import { encodingOf, encodingsByLlvm } from './judge.ts';
import { caseOf, textOf } from './text.ts';

const test = suite('x64 encodings');

test('recorded encodings of LLVM 14', () => {
  const lines = readFileSync(join(import.meta.dirname, 'encodings.txt'), 'utf8')
    .trim()
    .split('\n');
  assert.ok(lines.length > 1000);
  for (const line of lines) {
    const [text, bytes] = line.split(' = ') as [string, string];
    assert.is(encodingOf(caseOf(text)), bytes, text);
  }
});

need(test, ['llvm-mc-14'], 'random operands of every form', () => {
  const fractions = randomFractions(20);
  const below = (limit: number) => Math.floor(fractions() * limit);
  const texts: string[] = [];
  const ours: string[] = [];
  for (const [mnemonic, form] of everyForm()) {
    for (let i = 0; i < 3; i++) {
      const one = randomCase(mnemonic, form, below);
      assert.is(one !== undefined, isReachable(mnemonic, form), `${mnemonic} ${form.kinds}`);
      if (one === undefined) continue;
      texts.push(textOf(one, form));
      ours.push(encodingOf(one));
    }
  }
  const theirs = encodingsByLlvm(texts);
  for (let i = 0; i < texts.length; i++) assert.is(ours[i], theirs[i], texts[i]);
});

/** What `emit` throws. */
function refusal(mnemonic: string, operands: readonly Operand[], avx512 = true): string {
  try {
    newAssembler({ avx512 }).emit(mnemonic, ...operands);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

test('operands without a form are bugs with the mnemonic', () => {
  assert.match(refusal('vpaddd', [vector(1), vector(2), vector(3, 32)]), "no form of 'vpaddd' with vector 1 of 16 bytes");
  assert.match(refusal('vpaddd', [vector(1), vector(2), vector(16)], false), 'without AVX-512');
  assert.match(refusal('vpaddd', [vector(1, 64), vector(2, 64), vector(3, 64)], false), 'without AVX-512');
  assert.match(refusal('vpand', [vector(1), vector(2), vector(16)]), "'vpand'");
  assert.match(refusal('add', [general(1), immediate(2n ** 31n)]), "'add'");
  assert.match(refusal('shl', [general(1), general(2, 1)]), "'shl'");
  assert.match(refusal('fadd', []), "no instruction 'fadd'");
  assert.match(refusal('lock mov', [memory(1), general(1)]), "no instruction 'lock mov'");
  assert.match(refusal('lock add', [general(1), general(1)]), "'lock add'");
  assert.match(refusal('mov', [memory(1, 0, 4), general(1)]), 'rsp is no index');
  assert.match(refusal('mov', [memory(1, 2 ** 31), general(1)]), 'displacement');
});

test('memory whose size nothing says is a bug', () => {
  for (const [mnemonic, ...operands] of [
    ['mov', memory(1), immediate(1)],
    ['movzx', general(1, 4), memory(1)],
    ['vcvtpd2ps', vector(1), memory(1)],
    ['neg', memory(1)],
  ] as const) {
    assert.match(refusal(mnemonic, operands), `'${mnemonic}'`);
  }
  assert.is(refusal('mov', [sized(memory(1), 4), immediate(1)]), '');
  assert.is(refusal('add', [memory(1), general(1, 4)]), '');
});

test('masks are where EVEX has them', () => {
  const out = newAssembler({ avx512: true });
  const masked = (isZeroing: boolean, mnemonic: string, ...operands: readonly Operand[]) =>
    out.emitMasked(mnemonic, mask(1), isZeroing, ...operands);
  assert.throws(() => masked(false, 'vpsadbw', vector(1), vector(2), vector(3)), /'vpsadbw' under a mask/);
  assert.throws(() => masked(false, 'vpand', vector(1), vector(2), vector(3)), /'vpand' under a mask/);
  assert.throws(() => masked(true, 'vmovups', memory(1), vector(3)), /makes no zeros/);
  assert.throws(() => out.emitMasked('vpaddd', mask(0), false, vector(1), vector(2), vector(3)), /mask 0/);
  assert.is(out.size, 0);
});

test('immediates are signed or the bits of their size', () => {
  const same = (mnemonic: string, bytes: 2 | 4 | 8, one: bigint, other: bigint) =>
    assert.is(
      encodingOf({ mnemonic, operands: [general(3, bytes), immediate(one)], under: 0, isZeroing: false }),
      encodingOf({ mnemonic, operands: [general(3, bytes), immediate(other)], under: 0, isZeroing: false }),
    );
  same('and', 4, -16n, 2n ** 32n - 16n);
  same('and', 8, -16n, 2n ** 64n - 16n);
  same('xor', 2, -2n, 65534n);
  same('mov', 8, -1n, 2n ** 64n - 1n);
  same('mov', 4, -(2n ** 31n), 2n ** 31n);
});

test.run();
