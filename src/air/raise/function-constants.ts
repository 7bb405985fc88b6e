/**
 * Function constants: variables of a module whose values the caller supplies before a kernel is compiled, by name or number. In AIR each is
 * a variable in the section `air.fc_initializer`, which a constructor copies to other variables, and a node of `!air.function_constants`.
 */
import { bf16Bits, f16Bits, f32Bits } from '../../base/float.ts';
import type { GlobalVariable, Module } from '../../bitcode/model.ts';
import type { ConstantReflection } from '../abi.ts';
import { numberAt, textAt } from '../metadata-values.ts';

export interface FunctionConstant extends ConstantReflection {
  /** The variable that receives the value. */
  readonly variable: GlobalVariable;
}

/** A value from the caller: 64-bit integers as bigint, vectors as a list. */
export type ConstantValue = number | bigint | boolean | readonly (number | bigint | boolean)[];

/** A value for a function constant. */
export interface GivenConstant {
  /** Its name, or its number, `[[function_constant(N)]]`. */
  readonly constant: string | number;
  readonly value: ConstantValue;
}

/** The function constants of a module, in file order. */
export function readFunctionConstants(module: Module): FunctionConstant[] {
  const nodes = module.namedMetadata.find((n) => n.name === 'air.function_constants')?.nodes ?? [];
  return nodes.flatMap(({ operands: [variable, type, name, index, required] }) => {
    if (variable?.kind !== 'value' || variable.value.kind !== 'global') return [];
    const number = numberAt(index);
    return [
      {
        variable: variable.value,
        type: textAt(type) ?? '',
        name: textAt(name) ?? '',
        ...(number === undefined ? {} : { index: number }),
        isRequired: numberAt(required) !== 0,
      },
    ];
  });
}

/** The value for a constant; the last one if there are several. */
export const givenFor = ({ name, index }: ConstantReflection, given: readonly GivenConstant[]): GivenConstant | undefined =>
  [...given].reverse().find(({ constant }) => constant === name || (index !== undefined && constant === index));

const integers: Readonly<Record<string, readonly [bits: number, isSigned: boolean]>> = {
  char: [8, true],
  uchar: [8, false],
  short: [16, true],
  ushort: [16, false],
  int: [32, true],
  uint: [32, false],
  long: [64, true],
  ulong: [64, false],
};
const floats: Readonly<Record<string, readonly [bits: number, encode: (value: number) => number]>> = {
  half: [16, f16Bits],
  bfloat: [16, bf16Bits],
  float: [32, f32Bits],
};

/** The bytes of a value of an MSL type such as `float` or `uint3`, or the reason why it has none. */
export function bytesOfConstant(type: string, value: ConstantValue): Uint8Array | { readonly why: string } {
  const [, scalar = '', count = '1'] = /^([a-z]+)([234])?$/.exec(type) ?? [];
  const list = Array.isArray(value) ? (value as readonly (number | bigint | boolean)[]) : [value as number | bigint | boolean];
  if (list.length !== Number(count)) return { why: `it needs ${count} value${count === '1' ? '' : 's'}, but ${list.length} were given` };
  const encoded = list.map((each) => encode(scalar, each));
  const fault = encoded.find((each) => 'why' in each);
  if (fault) return fault as { readonly why: string };
  const parts = encoded as readonly { bits: bigint; size: number }[];
  const bytes = new Uint8Array(parts.reduce((sum, { size }) => sum + size, 0));
  parts.forEach(({ bits, size }, i) => {
    for (let n = 0; n < size; n++) bytes[i * size + n] = Number((bits >> BigInt(8 * n)) & 0xffn);
  });
  return bytes;
}

function encode(scalar: string, value: number | bigint | boolean): { bits: bigint; size: number } | { why: string } {
  if (scalar === 'bool')
    return typeof value === 'boolean' || value === 0 || value === 1 || value === 0n || value === 1n
      ? { bits: BigInt(Number(value)), size: 1 }
      : { why: 'it must be `true` or `false`' };
  const float = Object.hasOwn(floats, scalar) ? floats[scalar] : undefined;
  if (float && typeof value !== 'boolean') return { bits: BigInt(float[1](Number(value)) >>> 0), size: float[0] / 8 };
  const integer = Object.hasOwn(integers, scalar) ? integers[scalar] : undefined;
  if (integer && typeof value !== 'boolean' && (typeof value === 'bigint' || Number.isInteger(value))) {
    const [bits, isSigned] = integer;
    const whole = BigInt(value);
    const min = isSigned ? -(1n << BigInt(bits - 1)) : 0n;
    if (whole < min || whole >= min + (1n << BigInt(bits))) return { why: `it must be from ${min} to ${min + (1n << BigInt(bits)) - 1n}` };
    return { bits: BigInt.asUintN(bits, whole), size: bits / 8 };
  }
  return { why: float || integer ? `it must be ${float ? 'a number' : 'an integer'}` : 'values of that type are not supported' };
}
