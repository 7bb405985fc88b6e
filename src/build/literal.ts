/** Constants of JavaScript as operands of PTX, exact or refused. */
import { bf16Bits, f16Bits, f32Bits, f64Bits } from '../base/float.ts';
import type { Operand } from '../ptx/index.ts';
import { fail } from './fail.ts';
import { floatNode, integerNode } from './nodes.ts';
import { type TypeName, types } from './types.ts';

/** A constant of a type as an operand, and whether instructions take it in place of a register. */
export interface Literal {
  readonly node: Operand;
  readonly isImmediate: boolean;
}

/** A constant: floats are rounded to nearest, integers must be in the range of the type, of either sign. Throws CM5085. */
export function literal(type: TypeName, value: number | bigint | boolean): Literal {
  const { kind, bits } = types[type];
  if (kind === 'pred') return { node: integerNode(Number(value)), isImmediate: false };
  if (kind === 'float' || kind === 'pair') return floatLiteral(type, Number(value));
  if (typeof value === 'number' && !Number.isSafeInteger(value)) fail('CM5085', { value: String(value), type });
  const integer = BigInt(value);
  const least = kind === 'unsigned' ? 0n : -(2n ** BigInt(bits - 1));
  const most = kind === 'signed' ? 2n ** BigInt(bits - 1) : 2n ** BigInt(bits);
  if (integer < least || integer >= most) fail('CM5085', { value: String(value), type });
  return { node: integerNode(integer), isImmediate: true };
}

function floatLiteral(type: TypeName, value: number): Literal {
  if (type === 'f32') return { node: floatNode('f32', BigInt(f32Bits(value))), isImmediate: true };
  if (type === 'f64') return { node: floatNode('f64', f64Bits(value)), isImmediate: true };
  const half = type.startsWith('bf') ? bf16Bits(value) : f16Bits(value);
  const isPair = type.endsWith('x2');
  return { node: integerNode(isPair ? half * 0x10001 : half), isImmediate: false };
}
