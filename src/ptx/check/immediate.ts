/**
 * Constants as operands of a given type. Integers wrap to the width. A float literal gives the bits of the float with the operand's width,
 * for float and bit types.
 * Source: PTX ISA 9.0, 4.5 (constants), 6.1 (operand type information).
 */
import { bf16Bits, f16Bits, f32Bits, f64Bits } from '../../base/float.ts';
import { bitsOf, type ScalarType } from '../../ir/types.ts';
import type { Operand } from '../syntax/ast.ts';
import { constantValue } from '../syntax/constant.ts';

/** The bits of a constant expression as `type`; undefined if the operand is not a constant or has no such bits. */
export function immediateBits(node: Operand, type: ScalarType): bigint | undefined {
  if (node.kind === 'float' && node.format !== 'decimal' && bitsOf(type) === (node.format === 'f32' ? 32 : 64)) return node.bits;
  const constant = constantValue(node);
  if (!constant) return undefined;
  if (constant.type === 'f64') return floatBits(constant.value, type);
  if (type === 'i1') return constant.value === 0n ? 0n : 1n;
  return type.startsWith('i') ? BigInt.asUintN(bitsOf(type), constant.value) : undefined;
}

function floatBits(value: number, type: ScalarType): bigint | undefined {
  switch (type) {
    case 'f16':
      return BigInt(f16Bits(value));
    case 'bf16':
      return BigInt(bf16Bits(value));
    case 'f32':
    case 'i32':
      return BigInt(f32Bits(value));
    case 'f64':
    case 'i64':
      return f64Bits(value);
    default:
      return undefined;
  }
}
