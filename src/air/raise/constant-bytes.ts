/** The memory representation of constants. */

import { fieldOffset, sizeOf } from '../../bitcode/layout.ts';
import type { Constant } from '../../bitcode/model.ts';
import { Refused } from '../types.ts';

/** The largest variable in bytes; far more than a GPU has for variables, and small enough for any host. */
export const maxVariableBytes = 2 ** 26;

/** Writes a constant in its memory representation. */
export function fillConstant(bytes: Uint8Array, at: number, constant: Constant): void {
  if (constant.kind !== 'constant') throw new Refused('a constant that holds an address');
  switch (constant.form) {
    case 'int':
      return put(bytes, at, constant.value, sizeOf(constant.type));
    case 'float':
      return put(bytes, at, constant.bits, sizeOf(constant.type));
    case 'aggregate': {
      const { type } = constant;
      constant.elements.forEach((element, i) => {
        const offset = type.kind === 'struct' ? fieldOffset(type, i) : i * sizeOf(element.type);
        fillConstant(bytes, at + offset, element);
      });
      return;
    }
    case 'null':
    case 'undef':
    case 'poison':
      return;
    default:
      throw new Refused(`a constant expression (${constant.form}) in an initializer`);
  }
}

function put(bytes: Uint8Array, at: number, bits: bigint, size: number): void {
  for (let i = 0; i < size; i++) bytes[at + i] = Number((bits >> BigInt(8 * i)) & 0xffn);
}
