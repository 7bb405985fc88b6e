/** Video instructions with words that pick parts, against the manual's pseudo-code in integers of any size. Source: PTX ISA 9.0, 9.7.18. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { check, parse } from '../../src/ptx/index.ts';
import { splitMix64 } from '../../src/runtime/index.ts';
import { need } from '../support/need.ts';
import { runInstruction } from '../support/one-instruction.ts';
import { ptxasTakes } from '../support/ptxas.ts';

const test = suite('ptx/video');
const random = splitMix64(21n);
const draw = (below: number): number => Number(random() % BigInt(below));
const pick = <T>(list: readonly T[]): T => list[draw(list.length)]!;

const edges = [
  0n,
  1n,
  7n,
  31n,
  32n,
  33n,
  0x7fn,
  0x80n,
  0xffn,
  0x7fffn,
  0x8000n,
  0xffffn,
  0x7fffffffn,
  0x80000000n,
  0xffffffffn,
  0x80ff7f01n,
];
const word = (): bigint => (draw(2) === 0 ? pick(edges) : random() & 0xffffffffn);
const rows = Array.from({ length: 60 }, () => [word(), word(), word()] as const);

type Model = (a: bigint, b: bigint, c: bigint) => bigint;
interface Form {
  readonly text: string;
  readonly model: Model;
}

const isSigned = (type: string): boolean => type === 's32';
/** Bits from a place on, by the sign of a type. */
const field = (value: bigint, from: number, bits: number, type: string): bigint =>
  (isSigned(type) ? BigInt.asIntN : BigInt.asUintN)(bits, value >> BigInt(from));

function clamp(value: bigint, type: string, bits: number): bigint {
  const [least, most] = isSigned(type) ? [-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n] : [0n, (1n << BigInt(bits)) - 1n];
  return value < least ? least : value > most ? most : value;
}

const size = (value: bigint): bigint => (value < 0n ? -value : value);
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const operations: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  vadd: (a, b) => a + b,
  vsub: (a, b) => a - b,
  vabsdiff: (a, b) => size(a - b),
  vmin: least,
  vmax: most,
  vavrg: (a, b) => (a + b >= 0n ? (a + b + 1n) >> 1n : (a + b) >> 1n),
};
const comparisons: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
};
const types = (): string => pick(['u32', 's32']);

// ── two or four parts ──

function choiceOf(count: number): string {
  const letter = count === 2 ? 'h' : 'b';
  return draw(2) === 0 ? '' : `.${letter}${Array.from({ length: count }, () => draw(2 * count)).join('')}`;
}

function maskOf(count: number): string {
  const places = [3, 2, 1, 0].filter((place) => place < count && draw(2) === 0).join('');
  return places === '' ? '' : `.${count === 2 ? 'h' : 'b'}${places}`;
}

function anyLanewise(): Form {
  const count = pick([2, 4]);
  const bits = 32 / count;
  const cmp = draw(4) === 0 ? pick(Object.keys(comparisons)) : undefined;
  const name = cmp === undefined ? pick(Object.keys(operations)) : 'vset';
  const [dtype, atype, btype] = [cmp === undefined ? types() : 'u32', types(), types()];
  const adds = draw(2) === 0;
  const sat = cmp === undefined && !adds && draw(2) === 0;
  const [mask, aPart, bPart] = [maskOf(count), choiceOf(count), choiceOf(count)];
  const words = [`${name}${count}`, ...(cmp === undefined ? [dtype, atype, btype] : [atype, btype, cmp]), ...(sat ? ['sat'] : [])];
  const text = `${[...words, ...(adds ? ['add'] : [])].join('.')} d${mask}, a${aPart}, b${bPart}, c`;
  const model: Model = (a, b, c) => {
    const both = (b << 32n) | a;
    const lane = (part: string, i: number, isB: boolean): number => (part === '' ? i + (isB ? count : 0) : Number(part.at(-1 - i)));
    let result = adds ? c : 0n;
    for (let i = 0; i < count; i++) {
      const [x, y] = [field(both, bits * lane(aPart, i, false), bits, atype), field(both, bits * lane(bPart, i, true), bits, btype)];
      const value = cmp === undefined ? operations[name]!(x, y) : comparisons[cmp]!(x, y) ? 1n : 0n;
      const limited = sat ? clamp(value, dtype, bits) : value;
      const counts = mask === '' || mask.includes(String(i));
      if (adds) result += counts ? limited : 0n;
      else result |= BigInt.asUintN(bits, counts ? limited : c >> BigInt(bits * i)) << BigInt(bits * i);
    }
    return result;
  };
  return { text, model };
}

// ── shifts ──

const partOf = (): string => pick(['', '', '.b0', '.b1', '.b2', '.b3', '.h0', '.h1']);

/** A part that a selector names, or all bits. */
function chosen(value: bigint, part: string, type: string): bigint {
  const bits = part === '' ? 32 : part[1] === 'b' ? 8 : 16;
  return field(value, bits * Number(part[2] ?? 0), bits, type);
}

function anyShift(): Form {
  const [name, mode, atype] = [pick(['vshl', 'vshr']), pick(['clamp', 'wrap']), types()];
  const [aPart, bPart, adds] = [partOf(), partOf(), draw(2) === 0];
  const text = `${name}.${types()}.${atype}.u32.${mode}${adds ? '.add' : ''} d, a${aPart}, b${bPart}${adds ? ', c' : ''}`;
  const model: Model = (a, b, c) => {
    const [value, amount] = [chosen(a, aPart, atype), chosen(b, bPart, 'u32')];
    const count = mode === 'wrap' ? amount & 31n : least(amount, 32n);
    return (name === 'vshl' ? value << count : value >> count) + (adds ? c : 0n);
  };
  return { text, model };
}

const forms = [...Array.from({ length: 200 }, anyLanewise), ...Array.from({ length: 40 }, anyShift)];

for (const { text, model } of forms)
  test(text, () => {
    const sources = ['a', 'b', 'c'].map((name) => ({ name, kind: 'b32' as const }));
    const columns = [0, 1, 2].map((i) => rows.map((row) => row[i]!));
    const outcome = runInstruction({ text, sources, results: [{ name: 'd', kind: 'b32' }] }, columns);
    if (outcome.kind === 'refused') return assert.unreachable(outcome.diagnostics.list.map((d) => d.message).join('; '));
    const wrong = rows.filter((row, i) => outcome.results[0]![i] !== BigInt.asUintN(32, model(...row)));
    assert.equal(wrong.slice(0, 3), []);
  });

const kernelOf = (line: string): string =>
  `.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.reg .b32 a, b, c, d;\n${line};\nret;\n}\n`;

need(test, ['ptxas'], 'ptxas takes them all', async () => {
  const taken = await ptxasTakes([kernelOf(forms.map(({ text }) => text).join(';\n'))]);
  assert.equal(taken, [true]);
});

/** Selectors of parts that do not exist, and selectors where none is allowed. */
const faults = [
  'vadd2.s32.s32.s32 d, a.h4, b, c',
  'vadd4.s32.s32.s32 d, a.b8000, b, c',
  'vadd2.s32.s32.s32 d.h01, a, b, c',
  'add.s32 d, a.b0, b',
];

test('other words are faults', () => {
  for (const line of faults) {
    const file = new SourceFile('a.ptx', kernelOf(line));
    const diagnostics = new Diagnostics(file);
    check(parse(file, diagnostics), {}, diagnostics);
    assert.ok(diagnostics.hasErrors, line);
  }
});

need(test, ['ptxas'], 'and ptxas says so', async () => {
  assert.equal(
    await ptxasTakes(faults.map(kernelOf)),
    faults.map(() => false),
  );
});

test.run();
