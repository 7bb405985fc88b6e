/** What the rows of products by warp groups share: shapes, operands, and the errors of sums. */
import type { AnyModifiers } from '../../model/row.ts';
import { sizesOf } from './fragments.ts';
import { boundOf } from './mma.ts';

export const since = { ptx: 8, sm: 90 } as const;

/** The shapes for a list of widths and a depth, such as `m64n8k16`. */
export const shapes = (widths: readonly number[], depth: number): readonly string[] => widths.map((width) => `m64n${width}k${depth}`);
export const byEight = Array.from({ length: 32 }, (_, i) => 8 * (i + 1));
export const bySixteen = [8, ...byEight.filter((width) => width === 24 || width % 16 === 0)];

const columns = (m: AnyModifiers): number => sizesOf(String(m.shape)).n;
export const inWords = { d: (m: AnyModifiers) => columns(m) / 2 } as const;
export const byType = { d: (m: AnyModifiers) => columns(m) / (m.dtype === 'f16' ? 4 : 2) } as const;
export const held = { f16: 'b32', f32: 'f32' } as const;
export const descriptors = { a: 'b64', b: 'b64', s: 'pred', x: 's32', y: 's32', u: 's32', v: 's32' } as const;
export const registers = { ...descriptors, a: 'b32' } as const;
export const metadata = { e: 'b32', f: 's32' } as const;
export const signs = { x: [-1, 1], y: [-1, 1] } as const;
export const orders = { ...signs, u: [0, 1], v: [0, 1] } as const;
export const order = { ...signs, v: [0, 1] } as const;
export const pair = { f: [0, 1] } as const;
export const all = { f: [0, 0] } as const;
export const eighth = ['e4m3', 'e5m2'] as const;
export const byte = ['s8', 'u8'] as const;
export const vectors = { d: 'elements' } as const;
export const inRegisters = { d: 'elements', a: 'elements' } as const;

const recorded = 'an H200 is within the same bound';
/** Sums of floats are those of `mma`; integers are exact. */
export const rounded = {
  f16: { approximate: `${boundOf.f16.approximate}; ${recorded}` },
  f32: { approximate: `${boundOf.f32.approximate}; ${recorded}` },
} as const;
const kept = 'an H200 keeps 13 bits of its sums behind the greatest term, and differs by 2^-13 of the sum of the magnitudes at most';
/** Sums of eighths. Source: recorded on an NVIDIA H200. */
export const roundedEighths = {
  f16: { approximate: `${boundOf.f16.approximate}; ${kept}` },
  f32: { approximate: `${boundOf.f32.approximate}; ${kept}` },
} as const;

export const product = 'Multiplies matrices in shared memory and adds to registers: ';
export const mixed = 'Multiplies a matrix in registers by one in shared memory and adds to registers: ';
export const thin = 'Multiplies a sparse matrix by another one and adds to registers: ';
export const cpu = ' Requires `--target cpu`.';

export const common = { source: '9.7.15.5', isCollective: true, cases: () => [] } as const;
export const thinCommon = { source: '9.7.15.6', isCollective: true, cases: () => [] } as const;
export const thinSince = { ptx: 8.2, sm: 90 } as const;
export const type32 = { d: 'f32' } as const;
export const four = 4;
