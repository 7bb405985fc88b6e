/**
 * numpy's `.npy`: versions 1.0 to 3.0, little-endian numbers in C order.
 * Source: numpy `lib/format.py` ("Format Version 1.0" to "3.0").
 */
import { elementCount } from './element.ts';

export interface NpyArray {
  /** numpy's type word: `<f4`, `|u1`. */
  readonly descr: string;
  readonly shape: readonly number[];
  /** The elements in C order, little-endian. */
  readonly data: Uint8Array;
}

const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
const itemSizes: Record<string, number> = {
  '|u1': 1,
  '|i1': 1,
  '|b1': 1,
  '<u2': 2,
  '<i2': 2,
  '<f2': 2,
  '<u4': 4,
  '<i4': 4,
  '<f4': 4,
  '<u8': 8,
  '<i8': 8,
  '<f8': 8,
};

/** Whether a file name ends in `.npy`. */
export const isNpyPath = (path: string): boolean => path.toLowerCase().endsWith('.npy');

/** Whether a file name ends in `.npz`, as archives of arrays do. */
export const isNpzPath = (path: string): boolean => path.toLowerCase().endsWith('.npz');

/** The array in a `.npy` file, or the reason why it cannot be read. */
export function readNpy(bytes: Uint8Array): NpyArray | string {
  if (bytes.length < 10 || magic.some((byte, i) => bytes[i] !== byte)) return 'it does not start with the bytes \\x93NUMPY';
  const major = bytes[6]!;
  if (major < 1 || major > 3) return `version ${major}.${bytes[7]} is not known`;
  const wide = major > 1;
  if (wide && bytes.length < 12) return 'the header is truncated';
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = wide ? 12 : 10;
  const end = start + (wide ? view.getUint32(8, true) : view.getUint16(8, true));
  if (end > bytes.length) return 'the header is truncated';
  const text = new TextDecoder(major === 3 ? 'utf-8' : 'latin1').decode(bytes.subarray(start, end));
  const header = parseHeader(text);
  return typeof header === 'string' ? header : withData(header, bytes.subarray(end));
}

/** The bytes of a version 1.0 file (2.0 where the header needs it), data aligned to 64 bytes as numpy does. */
export function writeNpy({ descr, shape, data }: NpyArray): Uint8Array {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  const dictionary = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const wide = dictionary.length + 1 + 64 > 0xffff;
  const prefix = wide ? 12 : 10;
  const length = Math.ceil((prefix + dictionary.length + 1) / 64) * 64 - prefix;
  const out = new Uint8Array(prefix + length + data.length);
  out.set(magic);
  out[6] = wide ? 2 : 1;
  const view = new DataView(out.buffer);
  if (wide) view.setUint32(8, length, true);
  else view.setUint16(8, length, true);
  out.set(new TextEncoder().encode(`${dictionary.padEnd(length - 1)}\n`), prefix);
  out.set(data, prefix + length);
  return out;
}

interface Header {
  readonly descr: string;
  readonly fortran: boolean;
  readonly shape: readonly number[];
}

/** Reads the header, a Python dictionary literal, key by key: any order and spacing, as numpy promises. */
function parseHeader(text: string): Header | string {
  const descr = /'descr'\s*:\s*'([^']*)'|"descr"\s*:\s*"([^"]*)"/.exec(text);
  if (!descr) return 'its element type is a structure or an object, not one number type';
  const fortran = /['"]fortran_order['"]\s*:\s*(True|False)/.exec(text);
  const shape = /['"]shape['"]\s*:\s*\(([\d\s,L]*)\)/.exec(text);
  if (!fortran || !shape) return 'the header lacks `fortran_order` or `shape`';
  const numbers = shape[1]!.split(',').map((word) => word.trim().replace(/L$/, ''));
  if (numbers.at(-1) === '') numbers.pop();
  if (numbers.some((word) => !/^\d+$/.test(word))) return 'the shape in the header is malformed';
  return { descr: (descr[1] ?? descr[2])!, fortran: fortran[1] === 'True', shape: numbers.map(Number) };
}

function withData({ descr, fortran, shape }: Header, data: Uint8Array): NpyArray | string {
  const plain = descr.replace(/^[<=|](?=[uib]1$)/, '|');
  if (descr.startsWith('>')) return `its numbers are big-endian (${descr})`;
  if (plain.includes('O')) return 'it holds Python objects';
  const size = Object.hasOwn(itemSizes, plain) ? itemSizes[plain] : undefined;
  if (size === undefined) return `element type ${descr} is not a plain number`;
  if (fortran && shape.length > 1) return 'it is in Fortran order';
  const wanted = elementCount(shape) * size;
  if (wanted !== data.length) return `its shape (${shape.join(', ')}) needs ${wanted} bytes of data, and it has ${data.length}`;
  return { descr: plain, shape, data };
}
