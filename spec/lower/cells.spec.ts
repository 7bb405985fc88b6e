/**
 * Variables that carry arguments, and local ones, written and read at random in every width, on ways that the data choose: what the kernel
 * computes is what the same accesses of an array of bytes give. Each case is run with the variable as values, by way of generic addresses
 * too, and once more in memory.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Kernel } from '../../src/ir/index.ts';
import { promoteLocals } from '../../src/lower/index.ts';
import { splitMix64 } from '../../src/runtime/index.ts';
import { assertSound } from '../support/ir-text.ts';
import { kernelOf, wordsOf, writing } from './lowered.ts';

const test = suite('lower/cells');

type Pick = (count: number) => number;

/** One access; where it has a guard, only if that bit of the sum is set. */
interface Step {
  readonly kind: 'st' | 'ld';
  readonly bytes: 1 | 2 | 4 | 8;
  readonly lanes: 1 | 2 | 4;
  readonly at: number;
  readonly isSigned: boolean;
  readonly guard: number | undefined;
}

const size = 16;

function stepFrom(pick: Pick): Step {
  const bytes = ([1, 2, 4, 8] as const)[pick(4)]!;
  const lanes = ([1, 1, 1, 2, 4] as const)[pick(5)]!;
  if (bytes * lanes > size) return stepFrom(pick);
  const at = pick(size / (bytes * lanes)) * bytes * lanes;
  return { kind: pick(2) === 0 ? 'st' : 'ld', bytes, lanes, at, isSigned: pick(2) === 0, guard: pick(3) === 0 ? pick(64) : undefined };
}

const rounds = 3;

/** How the variable is declared and reached. */
type Kind = 'param' | 'local' | 'generic' | 'taken' | 'memory';

const starts: Partial<Record<Kind, string>> = {
  generic: 'mov.b64 %c, c; cvta.local.u64 %c, %c;',
  // What is volatile is memory.
  memory: 'mov.b64 %c, c; cvta.local.u64 %c, %c; ld.volatile.u64 %t, [%c];',
};

/** `sum` starts as the number given; a store writes `sum + lane`, a load makes it `sum * 31 + lane` for each lane. */
function textOf(steps: readonly Step[], kind: Kind): string {
  const declared = kind === 'param' || kind === 'taken' ? '.param' : '.local';
  const [space, address] = kind === 'generic' ? ['', '%c'] : [declared, 'c'];
  const lines = steps.map(({ kind, bytes, lanes, at, isSigned, guard }) => {
    const vector = lanes === 1 ? '' : `.v${lanes}`;
    const type = `.${isSigned ? 's' : 'u'}${8 * bytes}`;
    const names = Array.from({ length: lanes }, (_, i) => `%v${i}`);
    const list = lanes === 1 ? '%v0' : `{${names.join(', ')}}`;
    const when = guard === undefined ? '' : `shr.u64 %t, %sum, ${guard}; and.b64 %t, %t, 1; setp.ne.s64 %g, %t, 0;`;
    const set = guard === undefined ? '' : '@%g ';
    if (kind === 'st')
      return `${when} ${names.map((v, i) => `add.u64 ${v}, %sum, ${i};`).join(' ')} ${set}st${space}${vector}${type} [${address}+${at}], ${list};`;
    const sums = names.map((v) => `${set}mad.lo.u64 %sum, %sum, 31, ${v};`).join(' ');
    return `${when} ${set}ld${space}${vector}${type} ${list}, [${address}+${at}]; ${sums}`;
  });
  const start = [0, 8].map((at) => `st${space}.b64 [${address}+${at}], ${at};`).join(' ');
  const body = `.reg .b64 %sum, %t, %i, %v<4>, %c; .reg .pred %g, %more; cvt.u64.u32 %sum, %r0; ${starts[kind] ?? ''} mul.lo.u64 %sum, %sum, 0x9E3779B97F4A7C15; mov.b64 %i, 0; ${start}
    TOP: ${lines.join('\n')}
    add.u64 %i, %i, 1; setp.lt.u64 %more, %i, ${rounds}; @%more bra TOP;`;
  if (kind !== 'taken') return writing(`${declared} .align 16 .b8 c[${size}];\n${body}\nst.global.u64 [%rd0], %sum;`);
  // The result of a function, whose address is taken for nothing.
  const taken = body.replace('cvt.u64.u32 %sum, %r0', 'cvt.u64.u32 %sum, n; mov.b64 %t, c');
  const functions = `.func (.param .align 16 .b8 c[${size}], .reg .b64 r) f (.reg .b32 n)\n{ ${taken}\nmov.b64 r, %sum; }`;
  return writing(`.param .align 16 .b8 q[${size}]; call (q, %rd1), f, (%r0); st.global.u64 [%rd0], %rd1;`, functions);
}

/** The same on bytes. */
function expected(steps: readonly Step[], n: number): bigint {
  const view = new DataView(new ArrayBuffer(size));
  view.setBigUint64(8, 8n, true);
  const [wrap, write, read] = [(x: bigint) => BigInt.asUintN(64, x), writer(view), reader(view)];
  let sum = wrap(BigInt(n) * 0x9e3779b97f4a7c15n);
  for (let round = 0; round < rounds; round++)
    for (const { kind, bytes, lanes, at, isSigned, guard } of steps) {
      if (guard !== undefined && ((sum >> BigInt(guard)) & 1n) === 0n) continue;
      const values = Array.from({ length: lanes }, (_, i) => (kind === 'ld' ? read(at + i * bytes, bytes, isSigned) : 0n));
      if (kind === 'st') for (let i = 0; i < lanes; i++) write(at + i * bytes, bytes, sum + BigInt(i));
      else for (const value of values) sum = wrap(sum * 31n + value);
    }
  return sum;
}

const writer = (view: DataView) => (at: number, bytes: number, value: bigint) => {
  for (let i = 0; i < bytes; i++) view.setUint8(at + i, Number((value >> BigInt(8 * i)) & 255n));
};

const reader = (view: DataView) => (at: number, bytes: number, isSigned: boolean) => {
  let value = 0n;
  for (let i = 0; i < bytes; i++) value |= BigInt(view.getUint8(at + i)) << BigInt(8 * i);
  return isSigned ? BigInt.asIntN(8 * bytes, value) : value;
};

function sumOf(kernel: Kernel, n: number): bigint {
  const [low, high] = wordsOf(kernel, n, 2);
  return BigInt(low!) | (BigInt(high!) << 32n);
}

for (let seed = 1; seed <= 60; seed++)
  test(`accesses with seed ${seed}`, () => {
    const draw = splitMix64(BigInt(seed));
    const pick: Pick = (count) => Number(draw() % BigInt(count));
    const steps = Array.from({ length: 2 + pick(12) }, () => stepFrom(pick));
    for (const [kind, variables] of [
      ['param', 0],
      ['local', 0],
      ['generic', 0],
      ['taken', 0],
      ['memory', 1],
    ] as const) {
      const text = textOf(steps, kind);
      const kernel = kernelOf(text);
      promoteLocals(kernel);
      assertSound(kernel);
      assert.is(kernel.variables.length, variables, kind);
      for (const n of [1, 2, 12345]) assert.is(sumOf(kernel, n), expected(steps, n), text);
    }
  });

test.run();
