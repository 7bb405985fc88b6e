/**
 * Initial values of variables as bytes, little-endian, rows of arrays after one another; what is not written is 0.
 * Source: PTX ISA 9.0, 5.4.4 (initialisers), 5.4.3 (arrays), 4.5 (constants).
 */
import { bf16Bits, f16Bits, f32Bits, f64Bits } from '../base/float.ts';
import type { Span } from '../base/source.ts';
import type { Operand, Variable } from '../ptx/ast.ts';
import { constantValue } from '../ptx/constant.ts';

/** Bytes of a fundamental type; absent for predicates and opaque types, which have no memory. */
export const typeBytes: Readonly<Record<string, number>> = {
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
  /** Elements in each dimension; an open first dimension counts what its initialiser lists, else 0. */
  readonly dims: readonly number[];
  readonly size: number;
  readonly align: number;
}

/** The layout of a variable; nothing for types without memory. */
export function layoutOf(variable: Variable): Layout | undefined {
  const lane = typeBytes[variable.type];
  if (lane === undefined) return undefined;
  const element = lane * (variable.vector ? Number(variable.vector[1]) : 1);
  const listed = variable.init?.kind === 'vector' ? variable.init.elements.length : variable.init ? 1 : 0;
  const dims = variable.dims.map((dim) => dim ?? listed);
  const size = dims.reduce((a, b) => a * b, element);
  return { element, lane, dims, size, align: variable.align ?? element };
}

/** Bytes that one variable may have. Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". */
const mostBytes: Readonly<Record<string, number>> = { const: 65_536, local: 524_288, param: 32_764 };

/** All of a threadgroup's memory: nothing is aligned to more. */
const mostAlign = 32_768;

/** Why a variable or parameter of bytes cannot lie in memory, in words; shared memory is bounded by the target. */
export function layoutFault({ space, linkage }: Variable, { size, align }: Layout): string | undefined {
  if (align < 1 || align > mostAlign || (align & (align - 1)) !== 0)
    return `its alignment, ${align}, is not a power of two of at most ${mostAlign}`;
  if (size === 0 && linkage !== 'extern') return 'it has no bytes';
  const most = mostBytes[space] ?? Number.MAX_SAFE_INTEGER;
  return size > most ? `it has ${size} bytes, and \`.${space}\` memory has ${most}` : undefined;
}

/** Why an initialiser has no bytes, and where. */
export interface Unusable {
  readonly span: Span;
  readonly why: 'address' | 'value' | 'count';
}

/** The bytes of a variable; all 0 without an initialiser. */
export function initialBytes(variable: Variable, layout: Layout): Uint8Array | Unusable {
  const out = new Uint8Array(layout.size);
  if (!variable.init) return out;
  const dims = variable.vector ? [...layout.dims, layout.element / layout.lane] : layout.dims;
  const failed = fill(new DataView(out.buffer), variable.init, variable.type, { at: 0, bytes: layout.size, dims, lane: layout.lane });
  return failed ?? out;
}

interface Part {
  readonly at: number;
  readonly bytes: number;
  readonly dims: readonly number[];
  readonly lane: number;
}

/** Writes a value or a list; lists nest as the dimensions do, or list elements flatly. */
function fill(out: DataView, init: Operand, type: string, part: Part): Unusable | undefined {
  if (init.kind !== 'vector') return part.bytes < part.lane ? { span: init.span, why: 'count' } : scalar(out, init, type, part);
  const isNested = init.elements.some((element) => element.kind === 'vector');
  const step = isNested ? part.bytes / Math.max(1, part.dims[0] ?? 1) : part.lane;
  const dims = isNested ? part.dims.slice(1) : [];
  for (const [i, element] of init.elements.entries()) {
    if ((i + 1) * step > part.bytes || (isNested && part.dims.length === 0)) return { span: element.span, why: 'count' };
    const failed = fill(out, element, type, { at: part.at + i * step, bytes: step, dims, lane: part.lane });
    if (failed) return failed;
  }
  return undefined;
}

function scalar(out: DataView, init: Operand, type: string, part: Part): Unusable | undefined {
  const bits = scalarBits(init, type, part.lane);
  if (bits === undefined) return { span: init.span, why: constantValue(init) ? 'value' : 'address' };
  for (let i = 0; i < part.lane; i++) out.setUint8(part.at + i, Number((bits >> BigInt(8 * i)) & 0xffn));
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
