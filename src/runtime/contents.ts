/** Buffers in files: `.npy`, raw little-endian bytes, and `.pgm` pictures. */
import type { Diagnostics } from '../base/diagnostic.ts';
import { decodeElements, type ElementType, elementCount, elements, formatValue } from './element.ts';
import { type Io, readBytes, writeBytes } from './io.ts';
import { isNpyPath, isNpzPath, readNpy, writeNpy } from './npy.ts';

/** The elements of one buffer with type and shape. */
export interface Contents {
  readonly element: ElementType;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** The expected type and shape of a file; without a shape, the file determines it. */
export interface Wanted {
  readonly element: ElementType;
  readonly shape?: readonly number[] | undefined;
}

/** `f32[32x32]`, as messages and tables spell a buffer. */
export const describe = (element: ElementType, shape: readonly number[]): string => `${element}[${shape.join('x')}]`;

/** Reads a buffer from a `.npy` or raw file; undefined after reporting CM5030, CM5032 or CM5033. */
export function readContents(io: Io, path: string, wanted: Wanted, diagnostics: Diagnostics): Contents | undefined {
  const bytes = readBytes(io, path, diagnostics);
  if (!bytes) return undefined;
  if (isNpzPath(path)) {
    diagnostics.report('CM5032', { path, why: 'it is a .npz archive of several arrays; `numpy.save` writes one of them as a .npy file' });
    return undefined;
  }
  return isNpyPath(path) ? npyContents(path, bytes, wanted, diagnostics) : rawContents(path, bytes, wanted, diagnostics);
}

function npyContents(path: string, bytes: Uint8Array, { element, shape }: Wanted, diagnostics: Diagnostics): Contents | undefined {
  const array = readNpy(bytes);
  if (typeof array === 'string') {
    diagnostics.report('CM5032', { path, why: array });
    return undefined;
  }
  const found = array.shape.length === 0 ? [1] : array.shape;
  const isSame = array.descr === elements[element].npy && (!shape || sameShape(found, shape));
  if (isSame && elementCount(found) > 0) return { element, shape: found, bytes: array.data };
  const spelled = `numpy's ${array.descr} of shape (${array.shape.join(', ')})`;
  diagnostics.report('CM5033', {
    path,
    found: spelled,
    wanted: `${elements[element].npy}${shape ? ` of shape (${shape.join(', ')})` : ''} for ${element}`,
  });
  return undefined;
}

const sameShape = (a: readonly number[], b: readonly number[]): boolean => a.length === b.length && a.every((n, i) => n === b[i]);

function rawContents(path: string, bytes: Uint8Array, { element, shape }: Wanted, diagnostics: Diagnostics): Contents | undefined {
  const { size } = elements[element];
  const wanted = shape ? elementCount(shape) * size : undefined;
  const isWhole = bytes.length > 0 && bytes.length % size === 0;
  if (wanted === undefined ? isWhole : bytes.length === wanted) return { element, shape: shape ?? [bytes.length / size], bytes };
  const needed =
    shape && wanted !== undefined
      ? `${wanted} bytes for ${describe(element, shape)}`
      : `a positive multiple of ${size} bytes for ${element}`;
  diagnostics.report('CM5033', { path, found: `${bytes.length} bytes`, wanted: needed });
  return undefined;
}

/** Writes a buffer in the format of its file name; undefined after reporting CM5031 or CM5035, otherwise a description of the format. */
export function writeContents(io: Io, path: string, index: number, contents: Contents, diagnostics: Diagnostics): string | undefined {
  const { element, shape, bytes } = contents;
  if (isNpyPath(path))
    return writeBytes(io, path, writeNpy({ descr: elements[element].npy, shape, data: bytes }), diagnostics) ? '.npy' : undefined;
  if (!path.toLowerCase().endsWith('.pgm')) return writeBytes(io, path, bytes, diagnostics) ? 'raw bytes' : undefined;
  if (shape.length !== 2) {
    diagnostics.report('CM5035', { index, path, shape: describe(element, shape) });
    return undefined;
  }
  const picture = greyPicture(contents);
  return writeBytes(io, path, picture.bytes, diagnostics) ? picture.description : undefined;
}

/** A binary `.pgm` (P5): u8 as it is, anything else scaled from its smallest to its largest finite value; NaN is black. */
export function greyPicture({ element, shape, bytes }: Contents): { bytes: Uint8Array; description: string } {
  const [rows, columns] = [shape[0]!, shape[1]!];
  const head = new TextEncoder().encode(`P5\n${columns} ${rows}\n255\n`);
  const out = new Uint8Array(head.length + rows * columns);
  out.set(head);
  if (element === 'u8') {
    out.set(bytes.subarray(0, rows * columns), head.length);
    return { bytes: out, description: `picture, ${columns} x ${rows}` };
  }
  const values = decodeElements(element, bytes).map(Number);
  const [min, max] = finiteRange(values);
  const scale = max > min ? 255 / (max - min) : 0;
  values.forEach((value, i) => {
    const level = Math.round((value - min) * scale);
    out[head.length + i] = Number.isNaN(level) ? 0 : Math.min(255, Math.max(0, level));
  });
  const range = `${formatValue(element, min)} (black) to ${formatValue(element, max)} (white)`;
  return { bytes: out, description: `picture, ${columns} x ${rows}, ${range}` };
}

function finiteRange(values: readonly number[]): [number, number] {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  return min <= max ? [min, max] : [0, 0];
}
