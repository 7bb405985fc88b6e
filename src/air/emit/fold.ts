/** What instructions of constants amount to, as they are emitted: addresses in windows, which are numbers only here, and their sums. */
import type { BinaryOpcode, CastOpcode, Value } from '../../bitcode/model.ts';
import type { Type } from '../../bitcode/types.ts';
import { intConstant } from '../constants.ts';

const intOf = (value: Value): bigint | undefined => (value.kind === 'constant' && value.form === 'int' ? value.value : undefined);

/** Ops for which 0 as the second operand gives the first. */
const neutralZero: ReadonlySet<BinaryOpcode> = new Set(['add', 'sub', 'or', 'xor', 'shl', 'lshr', 'ashr'] as const);
/** Those for which it does as the first operand too. */
const neutralFirst: ReadonlySet<BinaryOpcode> = new Set(['add', 'or', 'xor'] as const);

const folds: Partial<Record<BinaryOpcode, (a: bigint, b: bigint) => bigint>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};

/** The value that a binary instruction equals without it. */
export function foldedBinary(opcode: BinaryOpcode, a: Value, b: Value): Value | undefined {
  if (a.type.kind !== 'int') return undefined;
  const [x, y] = [intOf(a), intOf(b)];
  if (x !== undefined && y !== undefined) {
    const fold = folds[opcode];
    return fold && intConstant(a.type, fold(x, y));
  }
  if (y === 0n && neutralZero.has(opcode)) return a;
  if (x === 0n && neutralFirst.has(opcode)) return b;
  if (opcode !== 'mul') return undefined;
  return y === 1n ? a : x === 1n ? b : undefined;
}

/** The value that a conversion equals without it. */
export function foldedCast(opcode: CastOpcode, value: Value, type: Type): Value | undefined {
  const bits = intOf(value);
  if (bits !== undefined && value.type.kind === 'int' && type.kind === 'int') {
    if (opcode === 'sext') return intConstant(type, BigInt.asIntN(value.type.bits, bits));
    if (opcode === 'trunc' || opcode === 'zext') return intConstant(type, bits);
  }
  if (opcode === 'bitcast' && bits !== undefined && type.kind === 'float') return { kind: 'constant', form: 'float', type, bits };
  if (opcode === 'bitcast' && value.kind === 'constant' && value.form === 'float' && type.kind === 'int')
    return intConstant(type, value.bits);
  const isWidened = opcode === 'trunc' && value.kind === 'instruction' && value.op === 'cast';
  if (isWidened && (value.opcode === 'zext' || value.opcode === 'sext') && value.value.type === type) return value.value;
  return undefined;
}
