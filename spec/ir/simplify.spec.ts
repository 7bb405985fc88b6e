import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  addBlock,
  builder,
  dce,
  emptyKernel,
  evalOp,
  fcmpPredicates,
  type InstOf,
  icmpPredicates,
  type Kernel,
  opNames,
  ops,
  type PureOp,
  printKernel,
  simplify,
  type Type,
  type Value,
} from '../../src/ir/index.ts';
import { interpret } from '../../src/ir/interpret.ts';
import { associative, commutative, mirrored } from '../../src/ir/passes/symmetry.ts';
import { assertGives, assertSound, kernelOf, kernelText } from '../support/ir-text.ts';
import { pointerParam } from '../support/kernels.ts';

const test = suite('ir/simplify');

/** Values that nothing is known of, by the letters that stand for them below. */
const values = {
  i: 'load i32 %p {align: 4, volatile: true}',
  k: 'load i32 %p {align: 4, volatile: true}',
  h: 'load i16 %p {align: 4, volatile: true}',
  j: 'load i64 %p {align: 8, volatile: true}',
  f: 'load f32 %p {align: 4, volatile: true}',
};
const numbers: Record<string, string> = { p: '%0', q: '%1', i: '%2', k: '%3', h: '%4', j: '%5', f: '%6', c: '%7' };
const numbered = (lines: string): string => lines.replace(/%([a-z])\b/g, (_, name: string) => numbers[name] ?? fail(name));
const fail = (name: string): never => {
  throw new Error(`the expectation names %${name}`);
};
const opening = [
  '%p = param ptr.global {index: 0}',
  '%q = param ptr.global {index: 1}',
  ...Object.entries(values).map(([name, load]) => `%${name} = ${load}`),
  '%c = icmp i1 %i, %k {pred: slt}',
];
const straight = (lines: readonly string[], result: string): string =>
  numbered(['b0:', ...opening, ...lines, `store %q, ${result} {align: 4, volatile: false}`, 'ret'].join('\n'));

/** Each side is lines, numbered from %10 on, and the value that is stored; after `simplify` and `dce` the first side is the second. */
function becomes(before: string, after: string): void {
  const [from, to] = [before, after].map((side) => side.split(';').map((part) => part.trim()));
  const whole = (parts: readonly string[]): string => kernelText(straight(parts.slice(0, -1), parts.at(-1)!));
  test(`${before}  =>  ${after}`, () => {
    const kernel = kernelOf(whole(from!));
    const expected = kernelOf(whole(to!));
    simplify(kernel);
    assertSound(kernel);
    assert.is(simplify(kernel), false, 'a second run finds nothing');
    dce(kernel);
    dce(expected);
    assert.is(printKernel(kernel), printKernel(expected));
  });
}

// Constants fold.
becomes('%10 = const i32 7; %11 = const i32 -9; %12 = add i32 %10, %11; %12', '%10 = const i32 -2; %10');
becomes('%10 = const i32 7; %11 = const i32 0; %12 = sdiv i32 %10, %11; %12', '%10 = const i32 -1; %10');
becomes('%10 = const i16 -32768; %11 = const i16 -1; %12 = sdiv i16 %10, %11; %12', '%10 = const i16 -32768; %10');
becomes('%10 = const f32 0x3f800000; %11 = const f32 0x40000000; %12 = fdiv f32 %10, %11; %12', '%10 = const f32 0x3f000000; %10');
becomes('%10 = const i32 -1; %11 = uitofp f32 %10; %12 = bitcast i32 %11; %12', '%10 = const i32 1333788672; %10');
becomes('%10 = const i32 3; %11 = const i32 4; %12 = icmp i1 %10, %11 {pred: ult}; %13 = select i32 %12, %i, %k; %13', '%i');
// Identities.
for (const [op, constant] of [
  ['add', 0],
  ['sub', 0],
  ['or', 0],
  ['xor', 0],
  ['shl', 0],
  ['lshr', 0],
  ['ashr', 0],
  ['umax', 0],
  ['mul', 1],
  ['sdiv', 1],
  ['udiv', 1],
  ['and', -1],
  ['umin', -1],
] as const)
  becomes(`%10 = const i32 ${constant}; %11 = ${op} i32 %i, %10; %11`, '%i');
for (const [op, constant, result] of [
  ['mul', 0, 0],
  ['and', 0, 0],
  ['or', -1, -1],
  ['shl', 32, 0],
  ['shl', -1, 0],
  ['lshr', 32, 0],
  ['udiv', 0, -1],
  ['sdiv', 0, -1],
  ['urem', 1, 0],
  ['srem', 1, 0],
  ['srem', -1, 0],
  ['umulhi', 1, 0],
] as const)
  becomes(`%10 = const i32 ${constant}; %11 = ${op} i32 %i, %10; %11`, `%10 = const i32 ${result}; %10`);
// A thread's number is below 1024, so that its sign is none: what compilers make of `tid / 16` and `tid % 16`, of `(tid + 128) / 8`, and of others.
becomes(
  '%10 = sreg i32 {name: tid.x}; %11 = const i32 31; %12 = ashr i32 %10, %11; %13 = const i32 28; %14 = lshr i32 %12, %13; %15 = add i32 %10, %14; %16 = const i32 4; %17 = ashr i32 %15, %16; %17',
  '%10 = sreg i32 {name: tid.x}; %16 = const i32 4; %17 = lshr i32 %10, %16; %17',
);
becomes(
  '%10 = sreg i32 {name: tid.y}; %11 = const i32 128; %12 = add i32 %10, %11; %13 = const i32 31; %14 = ashr i32 %12, %13; %14',
  '%10 = const i32 0; %10',
);
becomes('%10 = const i32 255; %11 = and i32 %i, %10; %12 = const i32 8; %13 = lshr i32 %11, %12; %13', '%10 = const i32 0; %10');
for (const [name, most] of [
  ['tid.x', 1023],
  ['tid.linear', 1023],
  ['laneid', 31],
] as const) {
  const bits = Math.log2(most + 1);
  const shifted = (by: number): string => `%10 = sreg i32 {name: ${name}}; %11 = const i32 ${by}; %12 = lshr i32 %10, %11; %12`;
  becomes(shifted(bits), '%10 = const i32 0; %10');
  becomes(shifted(bits - 1), shifted(bits - 1));
}
// What may be below 0, or come around, keeps its sign.
for (const kept of [
  '%10 = const i32 31; %11 = ashr i32 %i, %10; %11',
  '%10 = const i32 -256; %11 = and i32 %i, %10; %12 = const i32 31; %13 = ashr i32 %11, %12; %13',
  '%10 = sreg i32 {name: tid.x}; %11 = const i32 2147483647; %12 = add i32 %10, %11; %13 = const i32 31; %14 = ashr i32 %12, %13; %14',
  '%10 = sreg i32 {name: tid.x}; %11 = const i32 -1; %12 = add i32 %10, %11; %13 = const i32 31; %14 = ashr i32 %12, %13; %14',
  '%10 = sreg i32 {name: gid.x}; %11 = const i32 31; %12 = ashr i32 %10, %11; %12',
])
  becomes(kept, kept);
becomes('%10 = sub i32 %i, %i; %10', '%10 = const i32 0; %10');
becomes('%10 = xor i64 %j, %j; %10', '%10 = const i64 0; %10');
becomes('%10 = and i32 %i, %i; %10', '%i');
becomes('%10 = or i32 %i, %i; %11 = smin i32 %10, %i; %11', '%i');
becomes('%10 = icmp i1 %i, %i {pred: ule}; %11 = select i32 %10, %k, %i; %11', '%k');
becomes('%10 = icmp i1 %i, %i {pred: slt}; %11 = select i32 %10, %k, %i; %11', '%i');
becomes('%10 = select i32 %c, %i, %i; %10', '%i');
becomes('%10 = const i32 5; %11 = add i32 %10, %i; %11', '%10 = const i32 5; %11 = add i32 %i, %10; %11');
becomes(
  '%10 = const i32 5; %11 = icmp i1 %10, %i {pred: slt}; %12 = select i32 %11, %i, %k; %12',
  '%10 = const i32 5; %11 = icmp i1 %i, %10 {pred: sgt}; %12 = select i32 %11, %i, %k; %12',
);
const chosen = (flag: string): string => `%15 = select i32 ${flag}, %i, %k; %15`;
const not = '%10 = const i1 1; %12 = xor i1 %11, %10;';
becomes(`%11 = icmp i1 %i, %k {pred: slt}; ${not} ${chosen('%12')}`, `%12 = icmp i1 %i, %k {pred: sge}; ${chosen('%12')}`);
becomes(`%11 = icmp i1 %i, %k {pred: ne}; ${not} ${chosen('%12')}`, `%12 = icmp i1 %i, %k {pred: eq}; ${chosen('%12')}`);
// With a NaN the first is false, so its denial is true.
const other = '%13 = load f32 %p {align: 4, volatile: true};';
becomes(
  `${other} %11 = fcmp i1 %f, %13 {pred: olt}; ${not} ${chosen('%12')}`,
  `${other} %12 = fcmp i1 %f, %13 {pred: uge}; ${chosen('%12')}`,
);
becomes('%10 = const i1 0; %11 = icmp i1 %c, %10 {pred: ne}; %12 = select i32 %11, %i, %k; %12', '%12 = select i32 %c, %i, %k; %12');
becomes(
  '%10 = const i1 1; %11 = const i1 0; %12 = select i1 %c, %10, %11; %13 = select i32 %12, %i, %k; %13',
  '%12 = select i32 %c, %i, %k; %12',
);
becomes(
  '%10 = const i32 5; %11 = add i32 %i, %10; %12 = const i32 -7; %13 = add i32 %11, %12; %13',
  '%10 = const i32 -2; %11 = add i32 %i, %10; %11',
);
becomes('%10 = const i32 5; %11 = add i32 %i, %10; %12 = const i32 -5; %13 = add i32 %12, %11; %13', '%i');
becomes(
  '%10 = const i32 12; %11 = and i32 %i, %10; %12 = const i32 6; %13 = and i32 %11, %12; %13',
  '%10 = const i32 4; %11 = and i32 %i, %10; %11',
);
// What is not an identity stays.
for (const lines of [
  '%10 = const i32 0; %11 = sub i32 %10, %i; %11',
  '%10 = const i32 -1; %11 = smin i32 %i, %10; %11',
  '%10 = udiv i32 %i, %i; %10',
  '%10 = srem i32 %i, %i; %10',
  '%10 = const i32 -1; %11 = urem i32 %i, %10; %11',
  '%10 = const i32 32; %11 = ashr i32 %i, %10; %11',
  '%10 = const f32 0x00000000; %11 = fadd f32 %f, %10; %11',
  '%10 = const f32 0x3f800000; %11 = fmul f32 %f, %10; %11',
  '%10 = fsub f32 %f, %f; %10',
  '%10 = fdiv f32 %f, %f; %10',
])
  becomes(lines, lines);
// Floats.
becomes('%10 = fneg f32 %f; %11 = fneg f32 %10; %11', '%f');
becomes('%10 = fabs f32 %f; %11 = fabs f32 %10; %11', '%10 = fabs f32 %f; %10');
becomes('%10 = fneg f32 %f; %11 = fabs f32 %10; %11', '%10 = fabs f32 %f; %10');
becomes('%10 = fabs f32 %f; %11 = fneg f32 %10; %11', '%10 = fabs f32 %f; %11 = fneg f32 %10; %11');
// Conversions.
becomes('%10 = bitcast f32 %i; %11 = bitcast i32 %10; %11', '%i');
becomes('%10 = bitcast i32 %i; %10', '%i');
becomes('%10 = zext i64 %i; %11 = trunc i32 %10; %11', '%i');
becomes('%10 = sext i64 %i; %11 = trunc i16 %10; %11', '%10 = trunc i16 %i; %10');
becomes('%10 = sext i64 %h; %11 = trunc i32 %10; %11', '%10 = sext i32 %h; %10');
becomes('%10 = zext i32 %h; %11 = zext i64 %10; %11', '%10 = zext i64 %h; %10');
becomes('%10 = zext i32 %h; %11 = sext i64 %10; %11', '%10 = zext i64 %h; %10');
becomes('%10 = sext i32 %h; %11 = sext i64 %10; %11', '%10 = sext i64 %h; %10');
becomes('%10 = sext i32 %h; %11 = zext i64 %10; %11', '%10 = sext i32 %h; %11 = zext i64 %10; %11');
becomes('%10 = trunc i32 %j; %11 = trunc i16 %10; %11', '%10 = trunc i16 %j; %10');
becomes('%10 = fneg f32 %f; %11 = fadd f32 %f, %10; %11', '%10 = fsub f32 %f, %f; %10');
becomes('%10 = trunc i16 %i; %11 = zext i32 %10; %11', '%10 = const i32 65535; %11 = and i32 %i, %10; %11');
becomes(
  '%10 = const i32 65535; %11 = and i32 %i, %10; %12 = trunc i16 %11; %13 = zext i32 %12; %13',
  '%10 = const i32 65535; %11 = and i32 %i, %10; %11',
);
becomes(
  '%10 = const i32 65535; %11 = and i32 %i, %10; %12 = trunc i16 %11; %13 = sext i32 %12; %13',
  '%10 = trunc i16 %i; %11 = sext i32 %10; %11',
);
becomes(
  '%10 = const i32 16; %11 = lshr i32 %i, %10; %12 = trunc i16 %11; %13 = zext i32 %12; %13',
  '%10 = const i32 16; %11 = lshr i32 %i, %10; %11',
);
becomes(
  '%10 = const i32 15; %11 = lshr i32 %i, %10; %12 = trunc i16 %11; %13 = zext i32 %12; %13',
  '%10 = const i32 15; %11 = lshr i32 %i, %10; %12 = const i32 65535; %13 = and i32 %11, %12; %13',
);
becomes(
  '%10 = const i32 16; %11 = ashr i32 %i, %10; %12 = trunc i16 %11; %13 = sext i32 %12; %13',
  '%10 = const i32 16; %11 = ashr i32 %i, %10; %11',
);
becomes(
  '%10 = const i32 131071; %11 = and i32 %i, %10; %12 = trunc i16 %11; %13 = zext i32 %12; %13',
  '%10 = const i32 65535; %11 = and i32 %i, %10; %11',
);
// Known bits: a multiple of 4 is not 2, and one of two numbers is told from the other by 0.
const decides = (before: string, after: string): void => {
  const [from, to] = [before, after].map((side) => side.split('; '));
  const whole = (parts: readonly string[]): string => [...parts.slice(0, -1), `%40 = select i32 ${parts.at(-1)}, %i, %k`, '%40'].join('; ');
  becomes(whole(from!), to!.length === 1 ? to![0]! : whole(to!));
};
decides('%10 = const i32 2; %11 = shl i32 %i, %10; %12 = icmp i1 %11, %10 {pred: eq}; %12', '%k');
decides(
  '%10 = const i32 4; %11 = and i32 %i, %10; %12 = icmp i1 %11, %10 {pred: uge}; %12',
  '%10 = const i32 4; %11 = and i32 %i, %10; %12 = const i32 0; %13 = icmp i1 %11, %12 {pred: ne}; %13',
);
decides('%10 = const i32 7; %11 = and i32 %i, %10; %12 = const i32 8; %13 = icmp i1 %11, %12 {pred: slt}; %13', '%i');
const unknown = '%10 = const i32 7; %11 = or i32 %i, %10; %12 = const i32 8; %13 = icmp i1 %11, %12 {pred: slt}; %13';
decides(unknown, unknown);
// Comparisons of the same numbers, and choices between constants.
decides(
  '%10 = icmp i1 %i, %k {pred: ult}; %11 = icmp i1 %i, %k {pred: eq}; %12 = or i1 %10, %11; %12',
  '%10 = icmp i1 %i, %k {pred: ule}; %10',
);
decides('%10 = icmp i1 %i, %k {pred: ne}; %11 = icmp i1 %i, %k {pred: eq}; %12 = or i1 %10, %11; %12', '%i');
const signs = '%10 = icmp i1 %i, %k {pred: slt}; %11 = icmp i1 %i, %k {pred: ugt}; %12 = or i1 %10, %11; %12';
decides(signs, signs);
decides(
  '%10 = const i32 16; %11 = const i32 0; %12 = select i32 %c, %10, %11; %13 = icmp i1 %12, %10 {pred: uge}; %13',
  '%10 = const i32 0; %c',
);
becomes(
  '%10 = const i32 3; %11 = const i32 5; %12 = select i32 %c, %10, %11; %13 = mul i32 %12, %11; %13',
  '%10 = const i32 15; %11 = const i32 25; %12 = select i32 %c, %10, %11; %12',
);
// Bits are stored as what they were computed as.
becomes('%10 = bitcast i32 %f; %10', '%f');
// Vectors and addresses.
becomes('%10 = vec2 v2.i32 %i, %k; %11 = extract i32 %10 {lane: 1}; %11', '%k');
const pair = '%10 = const i64 8; %11 = ptradd ptr.global %p, %10; %12 = load v2.i32 %11 {align: 4, volatile: false};';
const parts = `${pair} %13 = extract i32 %12 {lane: 0}; %14 = extract i32 %12 {lane: 1};`;
becomes(`${parts} %15 = vec2 v2.i32 %13, %14; %15`, `${parts} %12`);
becomes(`${parts} %15 = vec2 v2.i32 %14, %13; %15`, `${parts} %15 = vec2 v2.i32 %14, %13; %15`);
becomes('%10 = vec4 v4.i32 %i, %i, %k, %i; %11 = extract i32 %10 {lane: 2}; %11', '%k');
becomes('%10 = const i64 0; %11 = ptradd ptr.global %p, %10; %12 = ptrtoint i64 %11; %12', '%10 = ptrtoint i64 %p; %10');
becomes(
  '%10 = const i64 8; %11 = ptradd ptr.global %p, %10; %12 = const i64 -12; %13 = ptradd ptr.global %11, %12; %14 = ptrtoint i64 %13; %14',
  '%10 = const i64 -4; %11 = ptradd ptr.global %p, %10; %12 = ptrtoint i64 %11; %12',
);
becomes('%10 = inttoptr ptr.global %j; %11 = ptrtoint i64 %10; %11', '%j');
becomes(
  '%10 = ptrtoint i64 %p; %11 = inttoptr ptr.global %10; %12 = load i32 %11 {align: 4, volatile: true}; %12',
  '%12 = load i32 %p {align: 4, volatile: true}; %12',
);
becomes(
  '%10 = ptrtoint i64 %p; %11 = inttoptr ptr.shared %10; %12 = load i32 %11 {align: 4, volatile: true}; %12',
  '%10 = ptrtoint i64 %p; %11 = inttoptr ptr.shared %10; %12 = load i32 %11 {align: 4, volatile: true}; %12',
);

// ── tables ──

/** `x op c`, `c op x` and `x op x` of 8-bit values, or of their low bits, as bytes one after the other. */
function byteKernel(op: string, type: 'i1' | 'i8', c: number): Kernel {
  const kernel = emptyKernel('bytes');
  kernel.params.push(pointerParam('p', 0, 'i8', 'read_write'));
  const b = builder(kernel, addBlock(kernel));
  const at = (offset: number): Value => b.ptradd(b.param('ptr.global', { index: 0 }), b.const('i64', offset));
  const attrs = { align: 1, volatile: true };
  const byte = b.load('i8', at(0), attrs);
  const x = type === 'i1' ? b.trunc('i1', byte) : byte;
  const constant = b.const(type, c);
  const emit = (x: Value, y: Value): Value => b[op as 'add'](x, y);
  [emit(x, constant), emit(constant, x), emit(x, x)].forEach((value, i) => {
    b.store(at(1 + i), type === 'i1' ? b.zext('i8', value) : value, attrs);
  });
  return kernel;
}

function bytesOf(kernel: Kernel, x: number): Uint8Array {
  const global = new Uint8Array([x, 0, 0, 0]);
  assert.equal(interpret(kernel, { memory: { global }, params: [0n], variables: {}, sregs: {}, limit: 100 }), { ended: 'return' });
  return global;
}

const bytes = [0, 1, 2, 7, 8, 85, 127, 128, 129, 254, 255];
for (const op of opNames.filter(
  (name) => 'b' in ops[name].args && 'a' in ops[name].args && ops[name].args.a === 'int' && ops[name].effect === 'pure' && name !== 'icmp',
))
  test(`${op} of a byte or a flag and every constant is what it was`, () => {
    for (const type of ['i1', 'i8'] as const)
      for (let c = 0; c < (type === 'i1' ? 2 : 256); c++) {
        const [plain, simple] = [byteKernel(op, type, c), byteKernel(op, type, c)];
        simplify(simple);
        for (const x of bytes) assert.equal(bytesOf(simple, x), bytesOf(plain, x), `${type} ${c} ${x}`);
      }
  });

test('an op that is mirrored means the same', () => {
  const floats = [0n, 0x8000n, 1n, 0x3c00n, 0xbc00n, 0x7c00n, 0xfc00n, 0x7e00n];
  const integers = bytes.map(BigInt);
  const mirrors = [
    ...icmpPredicates.map((pred) => ({ op: 'icmp', type: 'i1', pred, of: 'i8' })),
    ...fcmpPredicates.map((pred) => ({ op: 'fcmp', type: 'i1', pred, of: 'f16' })),
    ...[...commutative].map((op) => ({ op, type: /^f/.test(op) ? 'f16' : 'i8', of: /^f/.test(op) ? 'f16' : 'i8' })),
  ];
  assert.is(mirrors.length, icmpPredicates.length + fcmpPredicates.length + 16);
  for (const { of, ...fields } of mirrors) {
    const inst = { ...fields, a: 1, b: 2, c: 3 } as unknown as InstOf<PureOp>;
    const turned = mirrored(inst) as InstOf<PureOp>;
    assert.equal([(turned as InstOf<'add'>).a, (turned as InstOf<'add'>).b], [2, 1]);
    const types = [of, of, of] as Type[];
    const sides = of === 'f16' ? floats : integers;
    for (const a of sides)
      for (const b of sides)
        assert.is(evalOp(turned, [b, a, 0x3c00n], types), evalOp(inst, [a, b, 0x3c00n], types), `${fields.op} ${a} ${b}`);
  }
});

test('an op whose constants are gathered means the same', () => {
  const sides = bytes.map(BigInt);
  for (const op of associative) {
    const apply = (a: bigint, b: bigint): bigint => evalOp({ op, type: 'i8' } as unknown as InstOf<PureOp>, [a, b], ['i8', 'i8']);
    for (const a of sides) for (const b of sides) for (const c of sides) assert.is(apply(apply(a, b), c), apply(a, apply(b, c)), op);
  }
});

// ── graphs ──

const gives = (name: string, before: string, after: string): void => test(name, () => assertGives(simplify, before, after));

gives(
  'a branch on a constant is a jump',
  `b0:
    %0 = const i1 0
    condbr %0, b1, b2
  b1:
    ret
  b2:
    ret`,
  `b0:
    %0 = const i1 0
    br b2
  b1:
    ret
  b2:
    ret`,
);

gives(
  'parameters that are one value all along, nested loops through',
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = sreg i32 {name: tid.y}
    %2 = icmp i1 %0, %1 {pred: slt}
    br b1(%0, %1)
  b1(%3: i32, %4: i32):
    br b2(%3, %4)
  b2(%5: i32, %6: i32):
    condbr %2, b2(%5, %0), b3(%5)
  b3(%7: i32):
    condbr %2, b1(%7, %6), b4
  b4:
    ret`,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = sreg i32 {name: tid.y}
    %2 = icmp i1 %0, %1 {pred: slt}
    br b1(%1)
  b1(%4: i32):
    br b2(%4)
  b2(%6: i32):
    condbr %2, b2(%0), b3
  b3:
    condbr %2, b1(%6), b4
  b4:
    ret`,
);

gives(
  'code that cannot be reached follows what is replaced',
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = const i32 0
    %2 = add i32 %0, %1
    ret
  b1:
    %3 = mul i32 %2, %2
    br b1`,
  `b0:
    %0 = sreg i32 {name: tid.x}
    %1 = const i32 0
    ret
  b1:
    %3 = mul i32 %0, %0
    br b1`,
);

test.run();
