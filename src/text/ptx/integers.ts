/** Integer ops as PTX. A byte is in a 16-bit register whose upper half is 0; a predicate computes with logic. */
import { bitsOf, constantOf, type InstOf, type Op, type Type, type Value } from '../../ir/index.ts';
import type { Printer, Rule, Rules } from './printer.ts';
import { moveType } from './registers.ts';

type Binary = { readonly a: Value; readonly b: Value; readonly type: Type };

/** The width that instructions on an integer have. */
const width = (type: Type): number => Math.max(16, bitsOf(type));

/** A byte with its sign in 16 bits; other integers are what they are. */
export function signedOperand(p: Printer, value: Value): string {
  if (p.typeOf(value) !== 'i8') return p.operand(value);
  const known = constantOf(p.kernel, value);
  if (known !== undefined) return String(BigInt.asIntN(8, known));
  const extended = p.temp('i16');
  p.line(`cvt.s16.s8 ${extended}, ${p.reg(value)};`);
  return extended;
}

/** The first operand of an instruction, which is a register. */
function signedRegister(p: Printer, value: Value): string {
  if (p.typeOf(value) !== 'i8') return p.reg(value);
  const extended = p.temp('i16');
  p.line(`cvt.s16.s8 ${extended}, ${p.reg(value)};`);
  return extended;
}

/** Clears what is above a byte. */
function cut(p: Printer, type: Type, register: string): void {
  if (type === 'i8') p.line(`and.b16 ${register}, ${register}, 255;`);
}

const logicOf: Partial<Record<Op, string>> = {
  add: 'xor',
  sub: 'xor',
  mul: 'and',
  and: 'and',
  or: 'or',
  xor: 'xor',
  smin: 'or',
  smax: 'and',
  umin: 'and',
  umax: 'or',
};

/** An op of predicates. A quotient by 0 is all ones and a remainder the dividend. */
function logic(p: Printer, op: Op, { a, b }: Binary, value: Value): void {
  const name = logicOf[op];
  if (name === undefined) {
    const other = p.temp('i1');
    p.line(`not.pred ${other}, ${p.reg(b)};`);
    return p.line(`${op.endsWith('div') ? 'or' : 'and'}.pred ${p.reg(value)}, ${p.reg(a)}, ${other};`);
  }
  if (name === 'xor' && constantOf(p.kernel, b) === 1n) p.line(`not.pred ${p.reg(value)}, ${p.reg(a)};`);
  else p.line(`${name}.pred ${p.reg(value)}, ${p.reg(a)}, ${p.reg(b)};`);
}

/** An instruction whose operands may have anything above a byte; `isSigned` extends bytes first. */
const plain =
  (name: string, suffix: 's' | 'u' | 'b', isCut: boolean) =>
  (p: Printer, inst: Binary & { readonly op: Op }, value: Value): void => {
    const { a, b, type } = inst;
    if (type === 'i1') return logic(p, inst.op, inst, value);
    const isSigned = suffix === 's' && isCut && name !== 'add' && name !== 'sub' && name !== 'mul.lo';
    const [x, y] = isSigned ? [signedRegister(p, a), signedOperand(p, b)] : [p.reg(a), p.operand(b)];
    p.line(`${name}.${suffix}${width(type)} ${p.reg(value)}, ${x}, ${y};`);
    if (isCut) cut(p, type, p.reg(value));
  };

/** A product of two extended 32-bit numbers has an instruction of its own. */
function product(p: Printer, inst: InstOf<'mul'>, value: Value): void {
  const { a, b, type } = inst;
  const [x, y] = [p.kernel.insts[a]!, p.kernel.insts[b]!];
  for (const op of ['zext', 'sext'] as const) {
    if (type !== 'i64' || x.op !== op || p.typeOf(x.a) !== 'i32') continue;
    const other = y.op === op && p.typeOf(y.a) === 'i32' ? p.reg(y.a) : fittingConstant(p, b, op);
    if (other === undefined) continue;
    return p.line(`mul.wide.${op === 'sext' ? 's' : 'u'}32 ${p.reg(value)}, ${p.reg(x.a)}, ${other};`);
  }
  plain('mul.lo', 's', true)(p, inst, value);
}

function fittingConstant(p: Printer, value: Value, op: 'zext' | 'sext'): string | undefined {
  const known = constantOf(p.kernel, value);
  if (known === undefined) return undefined;
  const bits = op === 'sext' ? BigInt.asUintN(64, BigInt.asIntN(32, known)) : BigInt.asUintN(32, known);
  return bits === known ? String(op === 'sext' ? BigInt.asIntN(32, known) : known) : undefined;
}

/** The upper half of a product. */
const upper =
  (sign: 's' | 'u') =>
  (p: Printer, { a, b, type }: Binary, value: Value): void => {
    const d = p.reg(value);
    if (type === 'i1') return p.line(`mov.pred ${d}, 0;`);
    if (type !== 'i8') return p.line(`mul.hi.${sign}${width(type)} ${d}, ${p.reg(a)}, ${p.operand(b)};`);
    const [x, y] = sign === 's' ? [signedRegister(p, a), signedRegister(p, b)] : [p.reg(a), p.reg(b)];
    p.line(`mul.lo.${sign}16 ${d}, ${x}, ${y};`);
    p.line(`shr.u16 ${d}, ${d}, 8;`);
    cut(p, type, d);
  };

const isNumber = (p: Printer, value: Value): boolean => (constantOf(p.kernel, value) ?? 0n) !== 0n;

/** A remainder; of a division by zero it is the dividend. */
const remainder =
  (sign: 's' | 'u') =>
  (p: Printer, inst: Binary & { readonly op: Op }, value: Value): void => {
    const { a, b, type } = inst;
    if (type === 'i1') return logic(p, inst.op, inst, value);
    const [d, suffix] = [p.reg(value), `${sign}${width(type)}`];
    const [x, y] = sign === 's' ? [signedRegister(p, a), signedOperand(p, b)] : [p.reg(a), p.operand(b)];
    if (isNumber(p, b)) p.line(`rem.${suffix} ${d}, ${x}, ${y};`);
    else {
      const [isZero, rest] = [p.temp('i1'), p.temp(type)];
      p.line(`setp.eq.${suffix} ${isZero}, ${p.reg(b)}, 0;`);
      p.line(`rem.${suffix} ${rest}, ${x}, ${y};`);
      p.line(`selp.${moveType(type)} ${d}, ${x}, ${rest}, ${isZero};`);
    }
    cut(p, type, d);
  };

/** A count as the 32 bits that shifts take, a large one still large. */
function count(p: Printer, value: Value): string {
  const known = constantOf(p.kernel, value);
  if (known !== undefined) return String(known > 64n ? 64n : known);
  const type = p.typeOf(value);
  if (type === 'i32') return p.reg(value);
  const inst = p.kernel.insts[value]!;
  if (inst.op === 'zext' && p.typeOf(inst.a) === 'i32') return p.reg(inst.a);
  const [own, word] = [p.temp(type), p.temp('i32')];
  if (type === 'i64') p.line(`min.u64 ${own}, ${p.reg(value)}, 64;`);
  p.line(`cvt.u32.u${width(type)} ${word}, ${type === 'i64' ? own : p.reg(value)};`);
  return word;
}

/** Shifts by the width and more give zeros or signs in PTX as well. A byte is shifted in 16 bits, from which 8 signs are above it. */
const shift =
  (name: 'shl' | 'shr', suffix: 's' | 'u' | 'b') =>
  (p: Printer, { a, b, type }: Binary, value: Value): void => {
    if (type === 'i1') return shiftPredicate(p, { a, b, type }, suffix, value);
    const x = suffix === 's' ? signedRegister(p, a) : p.reg(a);
    p.line(`${name}.${suffix}${width(type)} ${p.reg(value)}, ${x}, ${count(p, b)};`);
    cut(p, type, p.reg(value));
  };

/** A predicate shifted by one is 0, or its sign. */
function shiftPredicate(p: Printer, { a, b }: Binary, suffix: string, value: Value): void {
  if (suffix === 's') return p.line(`mov.pred ${p.reg(value)}, ${p.reg(a)};`);
  const kept = p.temp('i1');
  p.line(`not.pred ${kept}, ${p.reg(b)};`);
  p.line(`and.pred ${p.reg(value)}, ${p.reg(a)}, ${kept};`);
}

/** An integer in 32 bits, zeros above it. */
function asWord(p: Printer, value: Value): string {
  if (p.typeOf(value) === 'i32') return p.reg(value);
  const word = p.temp('i32');
  p.line(`cvt.u32.u16 ${word}, ${p.reg(value)};`);
  return word;
}

/** A count of bits, which PTX gives in 32 bits. */
function counted(p: Printer, name: 'clz' | 'popc', a: Value, value: Value): void {
  const type = p.typeOf(value);
  if (type === 'i1') return p.line(`${name === 'clz' ? 'not' : 'mov'}.pred ${p.reg(value)}, ${p.reg(a)};`);
  const bits = bitsOf(type);
  const d = type === 'i32' ? p.reg(value) : p.temp('i32');
  p.line(`${name}.b${bits === 64 ? 64 : 32} ${d}, ${bits === 64 ? p.reg(a) : asWord(p, a)};`);
  if (bits < 32 && name === 'clz') p.line(`sub.s32 ${d}, ${d}, ${32 - bits};`);
  if (type !== 'i32') p.line(`cvt.u${width(type)}.u32 ${p.reg(value)}, ${d};`);
}

const reverse: Rule<'bitrev'> = (p, { a, type }, value) => {
  const bits = bitsOf(type);
  if (type === 'i1') return p.line(`mov.pred ${p.reg(value)}, ${p.reg(a)};`);
  if (bits >= 32) return p.line(`brev.b${bits} ${p.reg(value)}, ${p.reg(a)};`);
  const word = p.temp('i32');
  p.line(`brev.b32 ${word}, ${asWord(p, a)};`);
  p.line(`shr.u32 ${word}, ${word}, ${32 - bits};`);
  p.line(`cvt.u16.u32 ${p.reg(value)}, ${word};`);
};

const compare: Rule<'icmp'> = (p, { a, b, pred }, value) => {
  const type = p.typeOf(a);
  const d = p.reg(value);
  const word = pred.slice(-2);
  const sign = pred.length === 2 ? 's' : pred[0]!;
  if (type === 'i1') {
    const known = constantOf(p.kernel, b);
    if (known !== undefined && pred.length === 2)
      return p.line(`${(known === 1n) === (pred === 'eq') ? 'mov' : 'not'}.pred ${d}, ${p.reg(a)};`);
    const [x, y] = [p.temp('i32'), p.temp('i32')];
    const one = sign === 's' && pred.length > 2 ? -1 : 1;
    p.line(`selp.b32 ${x}, ${one}, 0, ${p.reg(a)};`);
    p.line(`selp.b32 ${y}, ${one}, 0, ${p.reg(b)};`);
    return p.line(`setp.${word}.s32 ${d}, ${x}, ${y};`);
  }
  const [x, y] = sign === 's' ? [signedRegister(p, a), signedOperand(p, b)] : [p.reg(a), p.operand(b)];
  p.line(`setp.${word}.${sign}${width(type)} ${d}, ${x}, ${y};`);
};

export const integerRules = {
  add: plain('add', 's', true),
  sub: plain('sub', 's', true),
  mul: product,
  smulhi: upper('s'),
  umulhi: upper('u'),
  sdiv: plain('div', 's', true),
  udiv: plain('div', 'u', true),
  srem: remainder('s'),
  urem: remainder('u'),
  and: plain('and', 'b', false),
  or: plain('or', 'b', false),
  xor: plain('xor', 'b', false),
  shl: shift('shl', 'b'),
  lshr: shift('shr', 'u'),
  ashr: shift('shr', 's'),
  smin: plain('min', 's', true),
  smax: plain('max', 's', true),
  umin: plain('min', 'u', true),
  umax: plain('max', 'u', true),
  clz: (p, { a }, value) => counted(p, 'clz', a, value),
  popcount: (p, { a }, value) => counted(p, 'popc', a, value),
  bitrev: reverse,
  icmp: compare,
} satisfies Partial<Rules>;
