/**
 * Initial values of variables as bytes, little-endian, rows of arrays after one another; bytes that are not written are 0.
 * Source: PTX ISA 9.0, 5.4.4 (initializers), 5.4.3 (arrays), 4.5 (constants).
 */
import { bf16Bits, f16Bits, f32Bits, f64Bits } from '../base/float.ts';
import type { Span } from '../base/source.ts';
import { lanesOfVariable } from '../ptx/model/types.ts';
import type { Operand, Variable } from '../ptx/syntax/ast.ts';
import { constantValue, integerConstant } from '../ptx/syntax/constant.ts';

/** Bytes of a fundamental type; absent for predicates and opaque types, which have no memory. */
const typeBytes: Readonly<Record<string, number>> = {
  b8: 1,
  u8: 1,
  s8: 1,
  b16: 2,
  u16: 2,
  s16: 2,
  f16: 2,
  bf16: 2,
  b32: 4,
  u32: 4,
  s32: 4,
  f32: 4,
  f16x2: 4,
  bf16x2: 4,
  b64: 8,
  u64: 8,
  s64: 8,
  f64: 8,
  b128: 16,
};

/** How a variable lies in memory. */
export interface Layout {
  /** Bytes of one element, all lanes of a vector. */
  readonly element: number;
  readonly lane: number;
  /** Elements in each dimension; an open first dimension counts what its initializer lists, else 0. */
  readonly dims: readonly number[];
  readonly size: number;
  readonly align: number;
}

/** The layout of a variable; nothing for types without memory. */
export function layoutOf(variable: Variable): Layout | undefined {
  const lane = typeBytes[variable.type];
  if (lane === undefined) return undefined;
  const element = lane * lanesOfVariable(variable);
  const listed = variable.init?.kind === 'vector' ? variable.init.elements.length : variable.init ? 1 : 0;
  const dims = variable.dims.map((dim) => dim ?? listed);
  const size = dims.reduce((a, b) => a * b, element);
  return { element, lane, dims, size, align: variable.align ?? element };
}

/**
 * Bytes that one variable may have; shared memory is bounded by the target. A `.global` variable may have half of the largest buffer.
 * Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
 */
const maxBytes: Readonly<Record<string, number>> = { const: 65_536, local: 524_288, param: 32_764, global: 2 ** 30 };

/** All of a threadgroup's memory: nothing is aligned to more. */
const maxAlign = 32_768;

/** Why a variable or parameter of bytes cannot lie in memory, in words; shared memory is bounded by the target. */
export function layoutFault({ space, linkage }: Variable, { size, align }: Layout): string | undefined {
  if (align < 1 || align > maxAlign || (align & (align - 1)) !== 0)
    return `its alignment, ${align}, is not a power of two of at most ${maxAlign}`;
  if (size === 0 && linkage !== 'extern') return 'it has no bytes';
  const most = maxBytes[space] ?? Number.MAX_SAFE_INTEGER;
  return size > most ? `it has ${size} bytes, and \`.${space}\` memory has ${most}` : undefined;
}

/** Why an initializer has no bytes, and where. */
export interface Unusable {
  readonly span: Span;
  readonly why: 'address' | 'value' | 'count';
}

/** An address of 64 bits within initial bytes, which are 0 there: that of a variable of the module with a number of bytes added. */
export interface AddressInside {
  /** Bytes from the start of the variable that holds it. */
  readonly at: number;
  readonly name: string;
  readonly plus: number;
}

/**
 * The bytes of a variable; all 0 without an initializer. Addresses of other variables are put in `addresses`; if none is handed over
 * they have no bytes.
 */
export function initialBytes(variable: Variable, layout: Layout, addresses?: AddressInside[]): Uint8Array | Unusable {
  const bytes = new Uint8Array(layout.size);
  if (!variable.init) return bytes;
  const dims = variable.vector ? [...layout.dims, layout.element / layout.lane] : layout.dims;
  const out: Out = { view: new DataView(bytes.buffer), type: variable.type, pieces: addresses && [] };
  const failed = fill(out, variable.init, { at: 0, bytes: layout.size, dims, lane: layout.lane });
  return failed ?? joinPieces(out.pieces ?? [], addresses) ?? bytes;
}

interface Out {
  readonly view: DataView;
  /** Of the variable. */
  readonly type: string;
  /** Addresses, and bytes of addresses; absent where there must be none. */
  readonly pieces: AddressPiece[] | undefined;
}

interface Part {
  readonly at: number;
  readonly bytes: number;
  readonly dims: readonly number[];
  readonly lane: number;
}

/** Writes a value or a list; lists nest as the dimensions do, or list elements flatly. */
function fill(out: Out, init: Operand, part: Part): Unusable | undefined {
  if (init.kind !== 'vector') return part.bytes < part.lane ? { span: init.span, why: 'count' } : scalar(out, init, part);
  const isNested = init.elements.some((element) => element.kind === 'vector');
  const step = isNested ? part.bytes / Math.max(1, part.dims[0] ?? 1) : part.lane;
  const dims = isNested ? part.dims.slice(1) : [];
  for (const [i, element] of init.elements.entries()) {
    if ((i + 1) * step > part.bytes || (isNested && part.dims.length === 0)) return { span: element.span, why: 'count' };
    const failed = fill(out, element, { at: part.at + i * step, bytes: step, dims, lane: part.lane });
    if (failed) return failed;
  }
  return undefined;
}

function scalar({ view, type, pieces }: Out, init: Operand, part: Part): Unusable | undefined {
  const bits = scalarBits(init, type, part.lane);
  if (bits === undefined) {
    const piece = pieces && !constantValue(init) ? addressPiece(init, part) : undefined;
    if (!piece) return { span: init.span, why: constantValue(init) ? 'value' : 'address' };
    pieces!.push(piece);
    return undefined;
  }
  for (let i = 0; i < part.lane; i++) view.setUint8(part.at + i, Number((bits >> BigInt(8 * i)) & 0xffn));
  return undefined;
}

/** The bits of one element; float literals keep their own bits where their width is the element's. */
function scalarBits(init: Operand, type: string, bytes: number): bigint | undefined {
  const isFloat = type.startsWith('f') || type.startsWith('bf');
  if (init.kind === 'float' && init.format !== 'decimal' && bytes === (init.format === 'f32' ? 4 : 8)) return init.bits;
  const constant = constantValue(init);
  if (!constant) return undefined;
  if (constant.type !== 'f64') return isFloat && constant.value !== 0n ? undefined : BigInt.asUintN(bytes * 8, constant.value);
  if (type === 'f16') return BigInt(f16Bits(constant.value));
  if (type === 'bf16') return BigInt(bf16Bits(constant.value));
  if (type === 'f32') return BigInt(f32Bits(constant.value));
  return type === 'f64' ? f64Bits(constant.value) : undefined;
}

/** An address, or the byte of one that a mask picks: `0xff00(a)` is byte 1. */
interface AddressPiece extends AddressInside {
  readonly span: Span;
  readonly byte: number | undefined;
}

/** The address that an element holds; nothing where it is none, or has no room for one. */
function addressPiece(init: Operand, { at, lane }: Part): AddressPiece | undefined {
  const isMasked = init.kind === 'apply' && init.operator.kind === 'integer';
  const found = sumOf(isMasked ? init.operand : init);
  const byte = isMasked ? byteOfMask((init.operator as Operand & { kind: 'integer' }).value) : undefined;
  const isFit = isMasked ? lane === 1 && byte !== undefined : lane === 8;
  return found && isFit ? { ...found, at, byte, span: init.span } : undefined;
}

function byteOfMask(mask: bigint): number | undefined {
  const byte = Array.from({ length: 8 }, (_, i) => i).find((i) => mask === 0xffn << BigInt(8 * i));
  return byte;
}

/** `a`, `generic(a)`, and either with constants added. In a module's memory the address in a space is the generic one. */
function sumOf(init: Operand): Pick<AddressInside, 'name' | 'plus'> | undefined {
  if (init.kind === 'name') return { name: init.name, plus: 0 };
  if (init.kind === 'list') return init.elements.length === 1 ? sumOf(init.elements[0]!) : undefined;
  if (init.kind === 'apply') return init.operator.kind === 'name' && init.operator.name === 'generic' ? sumOf(init.operand) : undefined;
  if (init.kind !== 'binary' || (init.operator !== '+' && init.operator !== '-')) return undefined;
  const [left, right] = [sumOf(init.left), sumOf(init.right)];
  const more = integerConstant(left ? init.right : init.left);
  // Of a difference only the left side is an address.
  const base = left ?? (init.operator === '+' ? right : undefined);
  if (!base || more === undefined) return undefined;
  return { name: base.name, plus: base.plus + Number(init.operator === '+' ? more : -more) };
}

/** Eight bytes of one address in their order are that address; an incomplete rest is refused. */
function joinPieces(pieces: readonly AddressPiece[], addresses: AddressInside[] | undefined): Unusable | undefined {
  for (let i = 0; i < pieces.length; ) {
    const { at, name, plus, byte, span } = pieces[i]!;
    const count = byte === undefined ? 1 : 8;
    const isWhole = Array.from({ length: count }, (_, k) => pieces[i + k]).every(
      (piece, k) => byte === undefined || (piece?.byte === k && piece.at === at + k && piece.name === name && piece.plus === plus),
    );
    if (!isWhole) return { span, why: 'address' };
    addresses?.push({ at, name, plus });
    i += count;
  }
  return undefined;
}
