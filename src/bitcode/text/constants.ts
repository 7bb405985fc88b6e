/** Constants as LLVM 14 writes them. */
import { upperHex } from '../../base/bytes.ts';
import type { Constant } from '../model.ts';
import { escapedByte, spell, spellName, type TypeOf } from '../types.ts';

type Plain = Extract<Constant, { kind: 'constant' }>;

/** A constant with its type in front. */
export const typedConstant = (constant: Constant): string => `${spell(constant.type)} ${constantText(constant)}`;

/** A constant without its type. */
export function constantText(constant: Constant): string {
  if (constant.kind !== 'constant') return `@${spellName(constant.name)}`;
  switch (constant.form) {
    case 'int':
      return intText(constant);
    case 'float':
      return floatText(constant.type.name, constant.bits);
    case 'null':
      return constant.type.kind === 'pointer' ? 'null' : 'zeroinitializer';
    case 'undef':
    case 'poison':
      return constant.form;
    case 'aggregate':
      return aggregateText(constant);
    case 'cast':
      return `${constant.opcode} (${typedConstant(constant.value)} to ${spell(constant.type)})`;
    case 'binary':
      return `${constant.opcode} (${typedConstant(constant.a)}, ${typedConstant(constant.b)})`;
    case 'asm': {
      const effects = constant.hasSideEffects ? 'sideeffect ' : '';
      return `asm ${effects}${quoted(constant.text)}, ${quoted(constant.constraints)}`;
    }
    case 'gep': {
      const operands = [constant.base, ...constant.indices].map(typedConstant).join(', ');
      return `getelementptr ${constant.inbounds ? 'inbounds ' : ''}(${spell(constant.sourceType)}, ${operands})`;
    }
  }
}

function intText({ type, value }: Extract<Plain, { form: 'int' }>): string {
  if (type.bits === 1) return value === 1n ? 'true' : 'false';
  return String(BigInt.asIntN(type.bits, value));
}

/** Six decimal digits if they are exact, else the bits; those of a float are printed as a double of the same value. */
function floatText(name: TypeOf<'float'>['name'], bits: bigint): string {
  if (name === 'half') return `0xH${upperHex(bits, 4)}`;
  if (name === 'bfloat') return `0xR${upperHex(bits, 4)}`;
  const view = new DataView(new ArrayBuffer(8));
  const wide = name === 'double' ? bits : widened(view, Number(bits));
  view.setBigUint64(0, wide);
  const value = view.getFloat64(0);
  if (Number.isFinite(value)) {
    const [digits, exponent] = value.toExponential(5).split('e') as [string, string];
    const sign = Object.is(value, -0) ? '-' : '';
    const text = `${sign}${digits}0e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
    if (Object.is(Number(text), value)) return text;
  }
  return `0x${upperHex(wide, 16)}`;
}

/** A float's bits as a double's; keeps NaN payloads, which a conversion need not do. */
function widened(view: DataView, bits: number): bigint {
  view.setUint32(0, bits);
  const value = view.getFloat32(0);
  if (Number.isNaN(value)) {
    const [sign, payload] = [BigInt(bits >>> 31), BigInt(bits & 0x7fffff)];
    return (sign << 63n) | (0x7ffn << 52n) | (payload << 29n);
  }
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}

function aggregateText(constant: Extract<Plain, { form: 'aggregate' }>): string {
  const { type, elements } = constant;
  const folded = foldOf(constant);
  if (folded) return folded;
  if (type.kind === 'array' && type.element.kind === 'int' && type.element.bits === 8 && elements.every(isInt))
    return `c"${escaped(elements.map(byteOf))}"`;
  const inner = elements.map(typedConstant).join(', ');
  if (type.kind === 'array') return `[${inner}]`;
  if (type.kind === 'vector') return `<${inner}>`;
  return type.kind === 'struct' && type.packed ? `<{ ${inner} }>` : `{ ${inner} }`;
}

const isInt = (c: Constant): boolean => c.kind === 'constant' && c.form === 'int';
const byteOf = (c: Constant): number => (c.kind === 'constant' && c.form === 'int' ? Number(c.value) : 0);

/** The short form of a constant whose elements all have the same one. */
function foldOf(c: Constant): 'zeroinitializer' | 'undef' | 'poison' | undefined {
  if (c.kind !== 'constant') return undefined;
  switch (c.form) {
    case 'int':
      return c.value === 0n ? 'zeroinitializer' : undefined;
    case 'float':
      return c.bits === 0n ? 'zeroinitializer' : undefined;
    case 'null':
      return 'zeroinitializer';
    case 'undef':
    case 'poison':
      return c.form;
    case 'aggregate': {
      const first = c.elements[0] ? foldOf(c.elements[0]) : 'zeroinitializer';
      return c.elements.every((element) => foldOf(element) === first) ? first : undefined;
    }
    default:
      return undefined;
  }
}

/** Bytes for a quoted string: printable ones unchanged, a backslash doubled, others as `\XX`. */
export function escaped(bytes: Iterable<number>): string {
  let out = '';
  for (const byte of bytes) out += escapedByte(byte);
  return out;
}

export const quoted = (text: string): string => `"${escaped(new TextEncoder().encode(text))}"`;
