/**
 * Video instructions with words that pick parts, in integers of any size: by the manual's pseudo-code, and scalar ones that saturate, combine or merge
 * by the rules of the code that NVIDIA's compiler makes of them. Source: PTX ISA 9.0, 9.7.18.
 */
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
const drawnWord = (): bigint => (draw(2) === 0 ? pick(edges) : random() & 0xffffffffn);
const rows = Array.from({ length: 60 }, () => [drawnWord(), drawnWord(), drawnWord()] as const);

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

// ── one part ──

const partOf = (): string => pick(['', '', '.b0', '.b1', '.b2', '.b3', '.h0', '.h1']);
const bitsOf = (part: string): number => (part === '' ? 32 : part[1] === 'b' ? 8 : 16);

/** A part that a selector names, or all bits. */
const chosen = (value: bigint, part: string, type: string): bigint => field(value, bitsOf(part) * Number(part[2] ?? 0), bitsOf(part), type);

const word = (value: bigint): bigint => BigInt.asIntN(32, value);
const clampAsUnsigned = (value: bigint, type: string, bits: number): bigint =>
  least(BigInt.asUintN(64, value), (1n << BigInt(isSigned(type) ? bits - 1 : bits)) - 1n);

interface Scalar {
  readonly name: string;
  /** What the sign of the result is taken from. */
  readonly type: string;
  readonly sat: boolean;
  /** Whether an unsigned word is shifted by an amount modulo 32, and saturated. */
  readonly isCut?: boolean;
}

/** Saturation: of words by the manual, except that nothing limits an unsigned word from above; of parts without a sign. */
function saturated(value: bigint, part: string, { name, type, sat }: Scalar): bigint {
  if (!sat) return value;
  if (part !== '' && name !== 'vshr') return clampAsUnsigned(value, type, bitsOf(part));
  return isSigned(type) ? clamp(value, type, 32) : most(value, 0n);
}

/** The result combined with c: sums are compared as signed words, which keep their sign before a comparison without one. */
function combined(value: bigint, op: string, c: bigint, { name, type, sat, isCut }: Scalar): bigint {
  if (op === 'add') return value + c;
  const wraps = isCut || ((name === 'vadd' || name === 'vsub') && !(sat && isSigned(type)));
  const [x, y] = [wraps ? word(value) : value, isSigned(type) ? word(c) : c];
  const [a, b] = isSigned(type) ? [BigInt.asIntN(64, x), y] : [BigInt.asUintN(64, x), y];
  return op === 'min' ? least(a, b) : most(a, b);
}

/** The part of c that is replaced; of the upper half by the upper half of the result. */
function merged(value: bigint, part: string, c: bigint): bigint {
  if (part === '.h1') return (BigInt.asUintN(32, value) & 0xffff0000n) | (c & 0xffffn);
  const from = BigInt(bitsOf(part) * Number(part[2] ?? 0));
  const mask = ((1n << BigInt(bitsOf(part))) - 1n) << from;
  return (c & ~mask) | ((value << from) & mask);
}

/** Opcode, types and further words, and the exact result of both operands. */
function scalarOf(): {
  readonly words: string;
  readonly scalar: Scalar;
  readonly atype: string;
  readonly btype: string;
  readonly exact: Model;
} {
  const name = pick(['vadd', 'vsub', 'vabsdiff', 'vmin', 'vmax', 'vshl', 'vshr', 'vset']);
  const [dtype, atype, btype] = [types(), types(), name.startsWith('vsh') ? 'u32' : types()];
  const sat = name !== 'vshl' && name !== 'vset' && draw(2) === 0;
  if (name === 'vset') {
    const cmp = pick(Object.keys(comparisons));
    const exact: Model = (a, b) => (comparisons[cmp]!(a, b) ? 1n : 0n);
    return { words: `vset.${atype}.${btype}.${cmp}`, scalar: { name, type: atype, sat }, atype, btype, exact };
  }
  const mode = pick(['clamp', 'wrap']);
  const shift: Model = (a, b) => {
    const count = mode === 'wrap' ? b & 31n : least(b, 32n);
    return name === 'vshl' ? a << count : a >> count;
  };
  const words = `${name}.${dtype}.${atype}.${btype}${sat ? '.sat' : ''}${name.startsWith('vsh') ? `.${mode}` : ''}`;
  const isCut = name === 'vshr' && sat && mode === 'wrap' && dtype === 'u32' && atype === 'u32';
  return { words, scalar: { name, type: dtype, sat, isCut }, atype, btype, exact: operations[name] ?? shift };
}

function anyScalar(): Form {
  const { words, scalar, atype, btype, exact } = scalarOf();
  const [aPart, bPart] = [partOf(), partOf()];
  const op = pick(['', 'add', 'min', 'max']);
  const dPart = op === '' ? partOf() : '';
  const text = `${words}${op && `.${op}`} d${dPart}, a${aPart}, b${bPart}${op || dPart ? ', c' : ''}`;
  const model: Model = (a, b, c) => {
    const value = saturated(exact(chosen(a, aPart, atype), chosen(b, bPart, btype), c), dPart, scalar);
    if (op !== '') return combined(value, op, c, scalar);
    return dPart === '' ? value : merged(value, dPart, c);
  };
  return { text, model };
}

/** Products of words with a sign, whatever their types; the sign of the sum counts where a type has one, or a term is negated. */
function anyProduct(): Form {
  const [dtype, atype, btype] = [types(), types(), types()];
  const [aPart, bPart] = [partOf(), partOf()];
  const [shift, sat, sign] = [pick([0, 7, 15]), draw(2) === 0, pick(['', 'a', 'b', 'c', 'po'])];
  const of = (name: string, part: string): string => `${sign === name ? '-' : ''}${name}${part}`;
  const words = `vmad.${dtype}.${atype}.${btype}${sign === 'po' ? '.po' : ''}${sat ? '.sat' : ''}${shift ? `.shr${shift}` : ''}`;
  const model: Model = (a, b, c) => {
    const product = word(chosen(a, aPart, atype)) * word(chosen(b, bPart, btype));
    const sum = (sign === 'a' || sign === 'b' ? -product : product) + (sign === 'c' ? -word(c) : word(c)) + (sign === 'po' ? 1n : 0n);
    const hasSign = isSigned(atype) || isSigned(btype) || ['a', 'b', 'c'].includes(sign);
    const value = shift === 0 ? sum : (hasSign ? sum : BigInt.asUintN(64, sum)) >> BigInt(shift);
    return sat ? clamp(value, hasSign ? 's32' : 'u32', 32) : value;
  };
  return { text: `${words} d, ${of('a', aPart)}, ${of('b', bPart)}, ${of('c', '')}`, model };
}

const forms = [
  ...Array.from({ length: 120 }, anyLanewise),
  ...Array.from({ length: 110 }, anyScalar),
  ...Array.from({ length: 20 }, anyProduct),
];

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
  'vadd.s32.s32.s32 d, a.b4, b',
  'vadd.s32.s32.s32.add d.b0, a, b, c',
  'vmad.s32.s32.s32 d.b0, a, b, c',
  'vmad.s32.s32.s32.po d, -a, b, c',
];
/** What is found where code is made of it. */
const laterFaults = ['vadd.s32.s32.s32 d.h0, a, b', 'vmad.s32.s32.s32 d, -a, -b, c', 'vmad.s32.s32.s32 d, -a, b, -c'];

test('other words are faults', () => {
  for (const line of faults) {
    const file = new SourceFile('a.ptx', kernelOf(line));
    const diagnostics = new Diagnostics(file);
    check(parse(file, diagnostics), {}, diagnostics);
    assert.ok(diagnostics.hasErrors, line);
  }
});

test('selectors and signs that do not fit together are refused', () => {
  const sources = ['a', 'b', 'c'].map((name) => ({ name, kind: 'b32' as const }));
  for (const text of laterFaults) {
    const outcome = runInstruction({ text, sources, results: [{ name: 'd', kind: 'b32' }] }, [[1n], [2n], [3n]]);
    assert.is(outcome.kind, 'refused', text);
  }
});

need(test, ['ptxas'], 'and ptxas says so', async () => {
  assert.equal(
    await ptxasTakes(faults.map(kernelOf)),
    faults.map(() => false),
  );
});

test.run();
