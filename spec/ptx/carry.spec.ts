/** Chains of instructions with the carry flag, against integers of any size. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { splitMix64 } from '../../src/runtime/index.ts';
import { runInstruction } from '../support/one-instruction.ts';

const test = suite('ptx/carry');

const names = ['a', 'b', 'c', 'e'] as const;
type Inputs = readonly [a: bigint, b: bigint, c: bigint, e: bigint];
const pattern = splitMix64(3n);
const edges = [0n, 1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 32n - 1n, 2n ** 64n - 2n];
const operand = (): bigint => (pattern() % 2n === 0n ? edges[Number(pattern() % 6n)]! : pattern());
const rows = Array.from({ length: 600 }, (): Inputs => [operand(), operand(), operand(), operand()]);

/** Runs instructions on registers a, b, c and e, with results d and f, and checks both for every row. */
function check(bits: 32 | 64, text: string, expected: (...inputs: Inputs) => readonly [d: bigint, f: bigint]): void {
  const kind = `b${bits}` as const;
  const cut = (value: bigint): bigint => BigInt.asUintN(bits, value);
  const inputs = rows.map((row) => row.map(cut) as unknown as Inputs);
  const sources = names.map((name) => ({ name, kind }));
  const results = ['d', 'f'].map((name) => ({ name, kind }));
  const outcome = runInstruction(
    { text, sources, results },
    names.map((_, i) => inputs.map((row) => row[i]!)),
  );
  if (outcome.kind === 'refused') return assert.unreachable(outcome.diagnostics.list.map((d) => d.message).join('; '));
  const wrong = inputs.filter((row, i) => {
    const [d, f] = expected(...row).map(cut);
    return outcome.results[0]![i] !== d || outcome.results[1]![i] !== f;
  });
  assert.equal(wrong.slice(0, 3), []);
}

/** Two registers as one integer, the first being the lower. */
const joined = (bits: number, low: bigint, high: bigint): bigint => (high << BigInt(bits)) | low;
const parted = (bits: number, value: bigint): [bigint, bigint] => [value, value >> BigInt(bits)];

for (const bits of [32, 64] as const)
  for (const sign of ['u', 's']) {
    const type = `${sign}${bits}`;
    const two = (a: bigint, c: bigint): bigint => joined(bits, a, c);

    test(`two registers of ${type} add`, () =>
      check(bits, `add.cc.${type} d, a, b; addc.${type} f, c, e`, (a, b, c, e) => parted(bits, two(a, c) + two(b, e))));

    test(`two registers of ${type} subtract`, () =>
      check(bits, `sub.cc.${type} d, a, b; subc.${type} f, c, e`, (a, b, c, e) => parted(bits, two(a, c) - two(b, e))));

    test(`the carry out of two registers of ${type} is a third`, () =>
      check(bits, `add.cc.${type} d, a, b; addc.cc.${type} d, c, e; addc.${type} f, 0, 0`, (a, b, c, e) => {
        const sum = two(a, c) + two(b, e);
        return [sum >> BigInt(bits), sum >> BigInt(2 * bits)];
      }));

    test(`the borrow out of two registers of ${type} is all ones`, () =>
      check(bits, `sub.cc.${type} d, a, b; subc.cc.${type} d, c, e; subc.${type} f, 0, 0`, (a, b, c, e) => {
        const rest = two(a, c) - two(b, e);
        return [rest >> BigInt(bits), rest >> BigInt(2 * bits)];
      }));
  }

for (const bits of [32, 64] as const)
  test(`a product of ${bits} bits is added to twice as many`, () => {
    const text = `mad.lo.cc.u${bits} d, a, b, c; madc.hi.u${bits} f, a, b, e`;
    check(bits, text, (a, b, c, e) => parted(bits, a * b + joined(bits, c, e)));
    const signed = (value: bigint): bigint => BigInt.asIntN(bits, value);
    const ofSigned = `mad.lo.cc.s${bits} d, a, b, c; madc.hi.cc.s${bits} f, a, b, e; addc.s${bits} d, 0, 0`;
    check(bits, ofSigned, (a, b, c, e) => {
      const half = BigInt.asUintN(bits, (signed(a) * signed(b)) >> BigInt(bits));
      const low = BigInt.asUintN(bits, a * b) + c;
      const high = half + e + (low >> BigInt(bits));
      return [high >> BigInt(bits), high];
    });
    const carried = `mad.hi.cc.u${bits} d, a, b, c; madc.lo.cc.u${bits} d, a, b, e; addc.u${bits} f, 0, 0`;
    check(bits, carried, (a, b, c, e) => {
      const first = ((a * b) >> BigInt(bits)) + c;
      const second = BigInt.asUintN(bits, a * b) + e + (first >> BigInt(bits));
      return [second, second >> BigInt(bits)];
    });
  });

test('the carry is kept where a guard fails, by instructions without .cc, and from block to block', () => {
  const guarded = `add.cc.u32 d, a, b; setp.eq.u32 set, c, 0; @set add.cc.u32 f, c, e; addc.u32 d, e, 0; addc.u32 f, 0, 0`;
  check(32, guarded, (a, b, c, e) => {
    const carry = c === 0n ? 0n : (a + b) >> 32n;
    return [e + carry, carry];
  });
  const blocks = `add.cc.u32 d, a, b; setp.eq.u32 set, c, 0; @set bra far; add.cc.u32 d, c, e; far: addc.u32 f, 0, 0`;
  check(32, blocks, (a, b, c, e) => {
    const sum = c === 0n ? a + b : c + e;
    return [sum, sum >> 32n];
  });
});

test.run();
