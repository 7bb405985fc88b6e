/** `evalOp` against results recorded on an NVIDIA GPU, for every recorded form that is one op; and by hand for ops that no form is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { evalOp, type InstOf, isEvaluableInst, isFloat, isNan, type PureOp, type ScalarType } from '../../src/ir/index.ts';

const test = suite('ir/eval');

interface Form {
  readonly ptx: string;
  readonly cases: readonly string[];
}
const { forms } = JSON.parse(readFileSync(join(import.meta.dirname, '../../fixtures/h200/scalar.json'), 'utf8')) as { forms: Form[] };

/** One op that is what a form of PTX says. */
interface Meaning {
  readonly inst: InstOf<PureOp>;
  readonly types: readonly ScalarType[];
  /** The operands of the op, from those of the form. */
  readonly operands: (x: readonly bigint[]) => readonly bigint[];
}

const meaning = (
  op: PureOp,
  type: ScalarType | 'i1',
  types: readonly ScalarType[],
  more: { attrs?: object; operands?: Meaning['operands'] } = {},
): Meaning => ({ inst: { op, type, ...more.attrs } as unknown as InstOf<PureOp>, types, operands: more.operands ?? ((x) => x) });

const intOf = (bits: string): ScalarType => `i${bits}` as ScalarType;
const ones = (bits: string): bigint => (1n << BigInt(bits)) - 1n;

const signs = { s: 'signed', u: 'unsigned' } as const;
const integerOps: Record<string, Record<keyof typeof signs, PureOp>> = {
  add: { s: 'add', u: 'add' },
  sub: { s: 'sub', u: 'sub' },
  'mul.lo': { s: 'mul', u: 'mul' },
  'mul.hi': { s: 'smulhi', u: 'umulhi' },
  div: { s: 'sdiv', u: 'udiv' },
  rem: { s: 'srem', u: 'urem' },
  min: { s: 'smin', u: 'umin' },
  max: { s: 'smax', u: 'umax' },
};
const floatOps: Record<string, PureOp> = {
  'add.rn': 'fadd',
  add: 'fadd',
  'sub.rn': 'fsub',
  sub: 'fsub',
  'mul.rn': 'fmul',
  mul: 'fmul',
  'div.rn': 'fdiv',
  'fma.rn': 'fma',
  'sqrt.rn': 'fsqrt',
  min: 'fmin',
  max: 'fmax',
  abs: 'fabs',
  neg: 'fneg',
};
const floatPredicates: Record<string, string> = {
  eq: 'oeq',
  ne: 'one',
  lt: 'olt',
  le: 'ole',
  gt: 'ogt',
  ge: 'oge',
  equ: 'ueq',
  neu: 'une',
  ltu: 'ult',
  leu: 'ule',
  gtu: 'ugt',
  geu: 'uge',
  num: 'ord',
  nan: 'uno',
};
const integralOps: Record<string, PureOp> = { rni: 'frint', rzi: 'ftrunc', rmi: 'ffloor', rpi: 'fceil' };

/** PTX counts shifts by a 32-bit register whatever the width; a count of the width or more acts as the width. */
const clamped =
  (bits: string): Meaning['operands'] =>
  ([a, count]) => [a!, count! > BigInt(bits) ? BigInt(bits) : count!];

type Reading = [form: RegExp, meaning: (m: readonly string[]) => Meaning | undefined];
const readings: readonly Reading[] = [
  [
    /^(\S+)\.([su])(16|32|64)$/,
    ([, name, sign, bits]) => {
      const op = integerOps[name!]?.[sign as 's' | 'u'];
      return op && meaning(op, intOf(bits!), [intOf(bits!), intOf(bits!)]);
    },
  ],
  [/^(and|or|xor)\.b(16|32|64)$/, ([, op, bits]) => meaning(op as 'and', intOf(bits!), [intOf(bits!), intOf(bits!)])],
  [
    /^not\.b(16|32|64)$/,
    ([, bits]) => meaning('xor', intOf(bits!), [intOf(bits!), intOf(bits!)], { operands: ([a]) => [a!, ones(bits!)] }),
  ],
  [/^neg\.s(16|32|64)$/, ([, bits]) => meaning('sub', intOf(bits!), [intOf(bits!), intOf(bits!)], { operands: ([a]) => [0n, a!] })],
  [
    /^(shl|shr)\.([bsu])(16|32|64)$/,
    ([, name, kind, bits]) => {
      const op = name === 'shl' ? 'shl' : kind === 's' ? 'ashr' : 'lshr';
      return meaning(op, intOf(bits!), [intOf(bits!), intOf(bits!)], { operands: clamped(bits!) });
    },
  ],
  [
    /^setp\.(\w\w)\.([su])(16|32|64)$/,
    ([, name, sign, bits]) =>
      meaning('icmp', 'i1', [intOf(bits!), intOf(bits!)], { attrs: { pred: name === 'eq' || name === 'ne' ? name : `${sign}${name}` } }),
  ],
  [
    /^setp\.(\w+)\.(f16|f32|f64)$/,
    ([, name, type]) => meaning('fcmp', 'i1', [type as 'f32', type as 'f32'], { attrs: { pred: floatPredicates[name!] } }),
  ],
  [
    /^(\w+(?:\.rn)?)\.(f16|f32|f64)$/,
    ([, name, type]) => {
      const op = floatOps[name!];
      return op && meaning(op, type as 'f32', [type as 'f32', type as 'f32', type as 'f32']);
    },
  ],
  [
    /^cvt\.[su](16|32|64)\.([su])(16|32|64)$/,
    ([, to, sign, from]) => {
      const op = Number(to) < Number(from) ? 'trunc' : sign === 's' ? 'sext' : 'zext';
      return to === from ? undefined : meaning(op, intOf(to!), [intOf(from!)]);
    },
  ],
  [
    /^cvt\.rn\.(f16|f32|f64)\.([su])(16|32|64)$/,
    ([, type, sign, bits]) => meaning(sign === 's' ? 'sitofp' : 'uitofp', type as 'f32', [intOf(bits!)]),
  ],
  [
    /^cvt\.rzi\.([su])(16|32|64)\.(f16|f32|f64)$/,
    ([, sign, bits, type]) => meaning(sign === 's' ? 'fptosi' : 'fptoui', intOf(bits!), [type as 'f32']),
  ],
  [/^cvt\.(r[nzmp]i)\.(f16|f32|f64)\.\2$/, ([, how, type]) => meaning(integralOps[how!]!, type as 'f32', [type as 'f32'])],
  [/^cvt\.rn\.(f16|bf16|f32)\.(f32|f64)$/, ([, to, from]) => meaning('fptrunc', to as 'f32', [from as 'f32'])],
  [/^cvt\.(f32|f64)\.(f16|bf16|f32)$/, ([, to, from]) => meaning('fpext', to as 'f32', [from as 'f32'])],
];

function meaningOf(ptx: string): Meaning | undefined {
  for (const [form, read] of readings) {
    const match = form.exec(ptx);
    const found = match ? read([...match]) : undefined;
    if (found) return found;
  }
  return undefined;
}

/**
 * Where the GPU gives what the op table says otherwise: lowering has to add a `select`. Each exception states the operands, what the GPU gives
 * and what the op gives; no other case of the form may differ.
 */
interface Exception {
  readonly form: RegExp;
  readonly holds: (x: readonly bigint[], types: readonly ScalarType[]) => boolean;
  readonly gpu: (type: ScalarType) => bigint;
  readonly op: (x: readonly bigint[]) => bigint;
}

const onesOf = (type: ScalarType): bigint => ones(type.slice(1));
const exceptions: readonly Exception[] = [
  // ISA: "division by zero yields an unspecified, machine-specific value".
  { form: /^rem\./, holds: ([, b]) => b === 0n, gpu: onesOf, op: ([a]) => a! },
  // A NaN gives the top bit where the GPU converts by way of 64 bits or from f64, and 0 where it converts by way of 32 bits.
  {
    form: /^cvt\.rzi\.(?:[su]64\.\w+|[su]\d+\.f64)$/,
    holds: ([a], [type]) => isNan(type!, a!),
    gpu: (type) => (onesOf(type) >> 1n) + 1n,
    op: () => 0n,
  },
];

/** The cases that differ from `evalOp`, or from the exception that covers them; one NaN is as good as another. */
function differing({ inst, types, operands }: Meaning, { ptx, cases }: Form): string[] {
  const exception = exceptions.find(({ form }) => form.test(ptx));
  return cases.filter((line) => {
    const words = line.split(' ').map((word) => BigInt(`0x${word}`));
    const recorded = words.pop()!;
    const got = evalOp(inst, operands(words), types);
    if (exception?.holds(words, types)) return recorded !== exception.gpu(inst.type as ScalarType) || got !== exception.op(words);
    return got !== recorded && !(isFloat(inst.type) && isNan(inst.type, got) && isNan(inst.type, recorded));
  });
}

const covered = new Set<PureOp>();
for (const form of forms) {
  const found = meaningOf(form.ptx);
  if (!found) continue;
  covered.add(found.inst.op);
  test(`${form.ptx} is ${found.inst.op}`, () => {
    assert.ok(form.cases.length >= 8);
    assert.equal(differing(found, form), []);
  });
}

test('every op that a form can be is compared', () => {
  const wanted = 'add sub mul smulhi umulhi sdiv udiv srem urem and or xor shl lshr ashr smin smax umin umax icmp'.split(' ');
  const floats = 'fadd fsub fmul fdiv fma fsqrt fneg fabs fmin fmax frint ftrunc ffloor fceil fcmp'.split(' ');
  const conversions = 'trunc zext sext fptosi fptoui sitofp uitofp fpext fptrunc'.split(' ');
  assert.equal([...covered].sort(), [...wanted, ...floats, ...conversions].sort());
});

// ── ops and widths that no form is ──

type Row = [inst: Record<string, unknown>, types: string[], operands: bigint[], result: bigint];
const rows: Row[] = [
  [{ op: 'const', type: 'i8', bits: 200n }, [], [], 200n],
  [{ op: 'ftz', type: 'f32' }, ['f32'], [0x00000001n], 0n],
  [{ op: 'ftz', type: 'f32' }, ['f32'], [0x807fffffn], 0x80000000n],
  [{ op: 'ftz', type: 'f32' }, ['f32'], [0x00800000n], 0x00800000n],
  [{ op: 'ftz', type: 'f32' }, ['f32'], [0xffc12345n], 0xffc12345n],
  [{ op: 'clz', type: 'i32' }, ['i32'], [0n], 32n],
  [{ op: 'clz', type: 'i32' }, ['i32'], [1n], 31n],
  [{ op: 'clz', type: 'i64' }, ['i64'], [0x8000000000000000n], 0n],
  [{ op: 'clz', type: 'i16' }, ['i16'], [0x00ffn], 8n],
  [{ op: 'clz', type: 'i1' }, ['i1'], [0n], 1n],
  [{ op: 'add', type: 'i1' }, ['i1', 'i1'], [1n, 1n], 0n],
  [{ op: 'add', type: 'i8' }, ['i8', 'i8'], [0xffn, 2n], 1n],
  [{ op: 'smulhi', type: 'i8' }, ['i8', 'i8'], [0x80n, 0x80n], 0x40n],
  [{ op: 'sdiv', type: 'i8' }, ['i8', 'i8'], [0x80n, 0xffn], 0x80n],
  [{ op: 'sdiv', type: 'i8' }, ['i8', 'i8'], [0xf9n, 2n], 0xfdn],
  [{ op: 'srem', type: 'i8' }, ['i8', 'i8'], [0xf9n, 2n], 0xffn],
  [{ op: 'srem', type: 'i8' }, ['i8', 'i8'], [0x80n, 0xffn], 0n],
  [{ op: 'udiv', type: 'i8' }, ['i8', 'i8'], [9n, 0n], 0xffn],
  [{ op: 'urem', type: 'i8' }, ['i8', 'i8'], [9n, 0n], 9n],
  [{ op: 'shl', type: 'i8' }, ['i8', 'i8'], [1n, 8n], 0n],
  [{ op: 'lshr', type: 'i8' }, ['i8', 'i8'], [0x80n, 0xffn], 0n],
  [{ op: 'ashr', type: 'i8' }, ['i8', 'i8'], [0x80n, 0xffn], 0xffn],
  [{ op: 'ashr', type: 'i8' }, ['i8', 'i8'], [0x7fn, 8n], 0n],
  [{ op: 'icmp', type: 'i1', pred: 'slt' }, ['i1', 'i1'], [1n, 0n], 1n],
  [{ op: 'icmp', type: 'i1', pred: 'ult' }, ['i1', 'i1'], [1n, 0n], 0n],
  [{ op: 'zext', type: 'i32' }, ['i1'], [1n], 1n],
  [{ op: 'sext', type: 'i32' }, ['i1'], [1n], 0xffffffffn],
  [{ op: 'trunc', type: 'i1' }, ['i32'], [2n], 0n],
  [{ op: 'bitcast', type: 'i32' }, ['f32'], [0x7f800001n], 0x7f800001n],
  [{ op: 'fptosi', type: 'i8' }, ['f32'], [0x43960000n], 0x7fn],
  [{ op: 'fptoui', type: 'i8' }, ['f32'], [0xbf800000n], 0n],
  [{ op: 'uitofp', type: 'f32' }, ['i1'], [1n], 0x3f800000n],
  [{ op: 'sitofp', type: 'f32' }, ['i1'], [1n], 0xbf800000n],
  [{ op: 'sitofp', type: 'bf16' }, ['i32'], [257n], 0x4380n],
  [{ op: 'uitofp', type: 'f16' }, ['i32'], [65520n], 0x7c00n],
  [{ op: 'fadd', type: 'bf16' }, ['bf16', 'bf16'], [0x3f80n, 0x3b80n], 0x3f80n],
  [{ op: 'select', type: 'i8' }, ['i1', 'i8', 'i8'], [1n, 5n, 6n], 5n],
  [{ op: 'select', type: 'f32' }, ['i1', 'f32', 'f32'], [0n, 5n, 6n], 6n],
  [{ op: 'vec2', type: 'v2.i16' }, ['i16', 'i16'], [0x1111n, 0x2222n], 0x22221111n],
  [{ op: 'vec4', type: 'v4.i8' }, ['i8', 'i8', 'i8', 'i8'], [1n, 2n, 3n, 4n], 0x04030201n],
  [{ op: 'extract', type: 'i8', lane: 2 }, ['v4.i8'], [0x04030201n], 3n],
  [{ op: 'extract', type: 'f32', lane: 1 }, ['v2.f32'], [0x3f80000040000000n], 0x3f800000n],
  [{ op: 'ptradd', type: 'ptr.global' }, ['ptr.global', 'i64'], [16n, 0xfffffffffffffffcn], 12n],
  [{ op: 'ptrtoint', type: 'i64' }, ['ptr.shared'], [7n], 7n],
  [{ op: 'inttoptr', type: 'ptr.local' }, ['i64'], [7n], 7n],
];
for (const [inst, types, operands, result] of rows)
  test(`${inst.op} ${inst.type} of ${operands.join(', ')} is ${result}`, () => {
    const pure = inst as unknown as InstOf<PureOp>;
    assert.ok(isEvaluableInst(pure));
    assert.is(evalOp(pure, operands, types as ScalarType[]), result);
  });

test.run();
