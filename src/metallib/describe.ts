/** Descriptions of tags for `cumetal inspect`. */
import { ByteReader, OutOfBytes } from '../base/bytes.ts';
import type { RawTag } from './library.ts';
import { tagOf } from './tags.ts';

/** Types of function constants and vertex inputs by number. Source: `MTLDataType` of Metal's `MTLArgument.h`. */
const dataTypes: readonly [first: number, names: string][] = [
  [1, 'struct array float float2 float3 float4 float2x2 float2x3 float2x4 float3x2 float3x3 float3x4 float4x2 float4x3 float4x4'],
  [16, 'half half2 half3 half4'],
  [29, 'int int2 int3 int4 uint uint2 uint3 uint4 short short2 short3 short4 ushort ushort2 ushort3 ushort4'],
  [45, 'char char2 char3 char4 uchar uchar2 uchar3 uchar4 bool bool2 bool3 bool4'],
];

function dataType(code: number): string {
  const run = dataTypes.find(([first, names]) => code >= first && code < first + names.split(' ').length);
  return run ? run[1].split(' ')[code - run[0]]! : `type ${code}`;
}

function textUpToNul(r: ByteReader): string {
  const end = r.bytes.indexOf(0, r.offset);
  if (end < 0 || end >= r.end) return r.text(r.remaining);
  const text = r.text(end - r.offset);
  r.u8();
  return text;
}

const listed = (r: ByteReader, one: () => string): string => {
  const words: string[] = [];
  for (let left = r.u16(); left > 0; left--) words.push(one());
  return words.join(', ');
};

const readers: Readonly<Record<string, (r: ByteReader) => string>> = {
  CNST: (r) => listed(r, () => `${textUpToNul(r)} (${dataType(r.u8())}, index ${r.u16()}${r.u8() ? '' : ', inactive'})`),
  VATT: (r) => listed(r, () => `${textUpToNul(r)} (attribute ${r.u16() & 0x1fff})`),
  VATY: (r) => listed(r, () => dataType(r.u8())),
  DEBI: (r) => {
    const line = r.u32();
    return `${textUpToNul(r)}:${line}`;
  },
  DEPF: textUpToNul,
};

const maxHex = 16;
const hex = (bytes: Uint8Array): string =>
  `${Array.from(bytes.subarray(0, maxHex), (byte) => byte.toString(16).padStart(2, '0')).join(' ')}${bytes.length > maxHex ? ' …' : ''}`;

/** For example `function constants: foo (float, index 0)`. An unknown tag, or one with an unexpected payload, shows its bytes. */
export function describeTag({ code, payload }: RawTag): string {
  const row = tagOf(code);
  const name = row ? row.doc : `tag ${code}`;
  try {
    const r = new ByteReader(payload);
    const text = Object.hasOwn(readers, code) ? readers[code]!(r) : undefined;
    if (text !== undefined && r.remaining === 0) return `${name}: ${text}`;
  } catch (error) {
    if (!(error instanceof OutOfBytes)) throw error;
  }
  return `${name}: ${payload.length} bytes${payload.length > 0 ? `, ${hex(payload)}` : ''}`;
}

/** The ranges of a file in order, with the gaps between them. */
export function withGaps<R extends { readonly offset: number; readonly size: number }>(
  ranges: readonly R[],
  size: number,
): (R | { readonly name: string; readonly offset: number; readonly size: number })[] {
  const found: (R | { name: string; offset: number; size: number })[] = [];
  let end = 0;
  const gapTo = (offset: number): void => void (offset > end && found.push({ name: 'unknown', offset: end, size: offset - end }));
  for (const range of ranges) {
    gapTo(range.offset);
    found.push(range);
    end = Math.max(end, range.offset + range.size);
  }
  gapTo(size);
  return found;
}
