import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Constant, constantValue, integerConstant, type Operand } from '../../src/ptx/index.ts';
import { need } from '../support/need.ts';
import { clean } from './tree.ts';

const test = suite('ptx/constant');

const preamble = '.version 8.4\n.target sm_80\n.address_size 64\n';

/** The initializer `text` as the parser reads it. */
function operandOf(text: string): Operand {
  const [variable] = clean(`${preamble}.global .u64 g = ${text};`).items;
  if (variable?.kind !== 'variable' || !variable.init) throw new Error(`no initializer: ${text}`);
  return variable.init;
}

const evaluated = (text: string): Constant | undefined => constantValue(operandOf(text));
const s64 = (value: bigint): Constant => ({ type: 's64', value });
const u64 = (value: bigint): Constant => ({ type: 'u64', value });
const f64 = (value: number): Constant => ({ type: 'f64', value });
const lowest = -(2n ** 63n);
const top = 2n ** 64n;

// Source: PTX ISA 9.0, 4.5.1 and 4.5.5; the comments quote the rule. The results of ptxas for the same texts are compared below.
const integers: Record<string, Constant> = {
  // Literals: decimal, hexadecimal, octal, binary; "signed unless unsigned is needed to prevent overflow, or U".
  '42': s64(42n),
  '0x1234': s64(0x1234n),
  '0X1f': s64(31n),
  '0123': s64(0o123n),
  '0b101': s64(5n),
  '0B11U': u64(3n),
  '42U': u64(42n),
  '0x1234U': u64(0x1234n),
  '0x7fffffffffffffff': s64(2n ** 63n - 1n),
  '0x8000000000000000': u64(2n ** 63n),
  '18446744073709551615': u64(top - 1n),
  '0xfabc123400000000': u64(0xfabc123400000000n),
  WARP_SZ: s64(32n),
  // "Unary plus and minus preserve the type."
  '+123': s64(123n),
  '-1': s64(-1n),
  '-(-42)': s64(42n),
  '-1U': u64(top - 1n),
  '-0xfabc123400000000': u64(top - 0xfabc123400000000n),
  '-9223372036854775808': u64(2n ** 63n),
  '- 9223372036854775807 - 1': s64(lowest),
  '-18446744073709551615': u64(1n),
  // "! produces a signed result with value 0 or 1"; "~ interprets the operand as unsigned".
  '!5': s64(0n),
  '!0': s64(1n),
  '!0U': s64(1n),
  '-!0': s64(-1n),
  '!!7': s64(1n),
  '~0': u64(top - 1n),
  '~-1': u64(0n),
  '~5 & 0xff': u64(0xfan),
  // Casts.
  '(.s64) 0xffffffffffffffff': s64(-1n),
  '(.u64) -1': u64(top - 1n),
  '(.s64) (.u64) -2': s64(-2n),
  '-(.u64) 1': u64(top - 1n),
  '(.u64) -1 >> 60': u64(15n),
  '(.s64) 0xfabc123400000000 >> 60': s64(-1n),
  // "The operands and result are unsigned if either source operand is unsigned, and is otherwise signed."
  '1 + 2': s64(3n),
  '1 + 2U': u64(3n),
  '1 - 2': s64(-1n),
  '1 - 2U': u64(top - 1n),
  '3 * -4': s64(-12n),
  '3U * -4': u64(top - 12n),
  '-7 / 2': s64(-3n),
  '7 / -2': s64(-3n),
  '-7 / -2': s64(3n),
  '-7 / 2U': u64((top - 7n) / 2n),
  'WARP_SZ * 2': s64(64n),
  'WARP_SZ - 33': s64(-1n),
  // 64 bits wrap.
  '9223372036854775807 + 1': s64(lowest),
  '-9223372036854775807 - 2': s64(2n ** 63n - 1n),
  '0xffffffffffffffff + 1': u64(0n),
  '0x100000000 * 0x100000000': s64(0n),
  '0x100000001 * 0x100000001': s64(0x200000001n),
  // "Remainder interprets the operands as unsigned."
  '7 % 3': u64(1n),
  '-7 % 3': u64((top - 7n) % 3n),
  '7 % -3': u64(7n),
  '-7 % 4': u64(1n),
  // "Shifts interpret the second operand as unsigned and produce a result with the same type as the first operand."
  '1 << 63': s64(lowest),
  '1 << 3U': s64(8n),
  '1U << 3': u64(8n),
  '-5 >> 1': s64(-3n),
  '-1 >> 63': s64(-1n),
  '-1U >> 63': u64(1n),
  '0x8000000000000000 >> 63': u64(1n),
  '1 << 0': s64(1n),
  // "AND, OR and XOR perform the usual arithmetic conversions."
  '-1 & -1': s64(-1n),
  '-1 & 0xffU': u64(255n),
  '-1 & 0xffffffffffffffff': u64(top - 1n),
  '-8 | 1': s64(-7n),
  '-8 | 1U': u64(top - 7n),
  '-1 ^ 0': s64(-1n),
  '5 ^ 3': s64(6n),
  // "&&, ||, == and != produce a signed result."
  '1 && 2': s64(1n),
  '1 && 0': s64(0n),
  '0U || 3U': s64(1n),
  '0 || 0': s64(0n),
  '-1 == 0xffffffffffffffff': s64(1n),
  '-1 != 0xffffffffffffffff': s64(0n),
  // "Ordered comparisons perform the usual arithmetic conversions and produce a signed result."
  '-1 < 1': s64(1n),
  '-1 < 1U': s64(0n),
  '-1 > 1U': s64(1n),
  '2 <= 2': s64(1n),
  '2 >= 3': s64(0n),
  '-9223372036854775808 < 0': s64(0n),
  '1.5 < 2.5': s64(1n),
  '1.5 == 1.5': s64(1n),
  '-1.5 >= 0.0': s64(0n),
  '2.0 * 2.0 - 4.0 >= 0.0': s64(1n),
  // ?: groups from the right; its condition is an integer.
  '1 ? 2 : 3': s64(2n),
  '0U ? 2 : -3': s64(-3n),
  '1 ? 2U : 3U': u64(2n),
  '1 ? 2 : 0 ? 3 : 4': s64(2n),
  '0 ? 2 : 0 ? 3 : 4': s64(4n),
  '-1 > 0U ? 11 : 22': s64(11n),
  // ptxas keeps the type of the operand that is selected.
  '1 ? -1 : 1U': s64(-1n),
  '0 ? -1 : 1U': u64(1n),
  '((1 ? 1U : -5) - 2) / 2': u64(2n ** 63n - 1n),
  '((0 ? -5 : 1U) - 2) / 2': u64(2n ** 63n - 1n),
  '((1 ? 1 : 5U) - 2) / 2': s64(0n),
  // Table 4: precedence as in C, levels group from the left.
  '5 - 3 - 1': s64(1n),
  '100 / 10 / 5': s64(2n),
  '2 + 3 * 4': s64(14n),
  '(2 + 3) * 4': s64(20n),
  '1 << 2 + 1': s64(8n),
  '1 << 2 << 3': s64(32n),
  '1 < 2 << 1': s64(1n),
  '1 == 1 < 2': s64(1n),
  '6 & 3 == 3': s64(0n),
  '1 | 2 ^ 3 & 4': s64(3n),
  '1 || 0 && 0': s64(1n),
  '0 | 0 && 1': s64(0n),
  '10 - 2 * 3 / 4 % 5': u64(9n),
  '-2 + 3': s64(1n),
  '~1 + 1': u64(top - 1n),
};

for (const [text, constant] of Object.entries(integers))
  test(`${text} is ${constant.value} (${constant.type})`, () => assert.equal(evaluated(text), constant));

// IEEE 754 arithmetic on doubles; `0f` and `0d` are bits.
const doubles: Record<string, number> = {
  '1.5 + 2.25': 3.75,
  '-1.5': -1.5,
  '+0.5': 0.5,
  '1.0 / 3.0': 1 / 3,
  '2.5 - 0.5 * 3.0': 1,
  '.5': 0.5,
  '1e3': 1000,
  '1.5e-3': 0.0015,
  '0f3F800000': 1,
  '0FBF800000': -1,
  '0d4000000000000000': 2,
  '1 ? 1.5 : 2.5': 1.5,
  '0 ? 1.5 : 2.5': 2.5,
  '-(1.0 - 3.0)': 2,
};

for (const [text, value] of Object.entries(doubles))
  test(`${text} is the double ${value}`, () => assert.equal(evaluated(text), f64(value)));

test('a minus sign reaches the sign bit of zero', () => {
  const value = evaluated('-0.0')?.value;
  assert.ok(Object.is(value, -0));
});

// ptxas refuses all of these but the last three; the manual defines no value for those.
const refused: Record<string, string> = {
  '1 / 0': 'division by zero',
  '1 / 0U': 'unsigned division by zero',
  '1 % (2 - 2)': 'remainder by zero',
  '0 && 1 / 0': 'a fault in an operand that does not matter',
  '1 ? 2 : 1 / 0': 'a fault in the choice not taken',
  '1.0 / 0.0': 'division of doubles by zero',
  '1.0 + 1': 'a double and an integer',
  '1 ? 1.0 : 2': 'a choice of a double and an integer',
  '1.0 ? 1 : 2': 'a double as condition',
  '!1.0': 'negation of a double',
  '~1.0': 'complement of a double',
  '(.u64) 1.5': 'cast of a double',
  '1.0 && 1': 'a double as truth',
  '5 & 1.0': 'bits of a double',
  '5.0 % 3.0': 'remainder of doubles',
  '1.0 << 2': 'shift of a double',
  'g + 1': 'a symbol',
  'generic(g)': 'an address',
  '1 << 64': 'a shift by 64',
  '-1 >> -1': 'a shift by 2^64 - 1',
};

for (const [text, why] of Object.entries(refused)) test(`no value for ${why}: ${text}`, () => assert.is(evaluated(text), undefined));

test('integerConstant gives the bits as a signed number', () => {
  assert.is(integerConstant(operandOf('0xffffffffffffffff')), -1n);
  assert.is(integerConstant(operandOf('0x8000000000000000')), lowest);
  assert.is(integerConstant(operandOf('7U')), 7n);
  assert.is(integerConstant(operandOf('1.0')), undefined);
});

/** The bits of each initializer as ptxas lays them out: each in a variable of its own. */
function byPtxas(texts: readonly string[]): bigint[] {
  const folder = mkdtempSync(join(tmpdir(), 'constant-'));
  try {
    const [source, object] = [join(folder, 'a.ptx'), join(folder, 'a.cubin')];
    writeFileSync(
      source,
      `${preamble}.visible .global .align 8 .u64 g[${texts.length + 1}] = {${texts.join(', ')}, 0x5eed5eed5eed5eed};\n`,
    );
    const { status, stdout, stderr } = spawnSync('ptxas', ['-arch=sm_80', source, '-o', object], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`ptxas: ${stdout}${stderr}`);
    const bytes = readFileSync(object);
    // The list ends in a mark that nothing else in the file has.
    const mark = Buffer.alloc(8);
    mark.writeBigUInt64LE(0x5eed5eed5eed5eedn);
    const end = bytes.indexOf(mark);
    if (end < 0) throw new Error('ptxas wrote no list');
    return texts.map((_, i) => bytes.readBigUInt64LE(end - 8 * (texts.length - i)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

need(test, ['ptxas'], 'ptxas computes the same values', () => {
  const texts = Object.keys(integers);
  const actual = Object.fromEntries(byPtxas(texts).map((bits, i) => [texts[i], bits]));
  const expected = Object.fromEntries(texts.map((text) => [text, BigInt.asUintN(64, BigInt(integers[text]!.value))]));
  assert.equal(actual, expected);
});

need(test, ['ptxas'], 'ptxas gives the same types, as a comparison with zero and a shift show them', () => {
  const texts = Object.keys(integers).flatMap((text) => [`((${text}) ^ ${topBit}) >> 63`, `((${text}) * 0 - 1) < 0`]);
  const expected = Object.values(integers).flatMap(({ type, value }) => {
    const flipped = BigInt.asIntN(64, BigInt(value)) ^ lowest;
    const shifted = type === 's64' ? BigInt.asUintN(64, BigInt.asIntN(64, flipped) >> 63n) : BigInt.asUintN(64, flipped) >> 63n;
    return [shifted, type === 's64' ? 1n : 0n];
  });
  assert.equal(byPtxas(texts), expected);
});

/** 2^63 without making the expression around it unsigned. */
const topBit = '(-9223372036854775807 - 1)';

test.run();
