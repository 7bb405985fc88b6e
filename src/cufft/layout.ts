/** Layouts of transforms: where their numbers are, what is read and written, and which of them the passes take as they are. */
import { errorOf } from '../api/failures.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import { type Form, narrow } from './kernels.ts';
import { radicesOf } from './tables.ts';

/** The kinds of transforms: complex or real numbers of f32 (C, R) or f64 (Z, D) to others. */
export type TransformType = 'C2C' | 'R2C' | 'C2R' | 'Z2Z' | 'D2Z' | 'Z2D';

/** Throws CM5093. */
export function refuse(name: string, why: string): never {
  const diagnostics = new Diagnostics();
  diagnostics.report('CM5093', { kernel: name, why });
  throw errorOf(diagnostics);
}

/** Where elements are: `((x * embed[1] + y) * embed[2] + z) * stride`, and `distance` between transforms. Three dimensions, the first ones may be 1. */
export interface Layout {
  readonly embed: readonly [number, number, number];
  readonly stride: number;
  readonly distance: number;
}
/** Sizes of a plan. */
export interface Sizes {
  readonly rank: number;
  /** Three dimensions, of which the first ones are 1 for a lower rank. */
  readonly n: readonly [number, number, number];
  readonly batch: number;
  readonly type: TransformType;
  readonly input: Layout;
  readonly output: Layout;
  /** Whether layouts are the usual ones, which in place have padded rows of real numbers. */
  readonly isUsual: boolean;
}

/** In place, rows of real numbers are as long as those of complex ones. */
function padded({ n }: Sizes, { embed }: Layout): Layout {
  const row = 2 * (Math.floor(n[2] / 2) + 1);
  return { embed: [embed[0], embed[1], row], stride: 1, distance: n[0] * n[1] * row };
}

/** The layouts of the input and the output of a transform. */
export function layoutsOf(sizes: Sizes, isInPlace: boolean): readonly [Layout, Layout] {
  const { input, output, isUsual, type } = sizes;
  const isPadded = (...types: readonly TransformType[]): boolean => isInPlace && isUsual && types.includes(type);
  return [isPadded('R2C', 'D2Z') ? padded(sizes, input) : input, isPadded('C2R', 'Z2D') ? padded(sizes, output) : output];
}

/** Whether complex numbers are in the order of the transform. */
export const isPlain = ({ n, rank }: Sizes, { embed, stride, distance }: Layout): boolean =>
  stride === 1 && distance === n[0] * n[1] * n[2] && [1, 2].every((d) => d <= 3 - rank || embed[d] === n[d]);

/** The pitch of a transform of real numbers as pairs; undefined where they do not follow each other by pairs, or their length has a large prime. */
export function halvedPitch({ n, rank, type, input, output }: Sizes): number | undefined {
  const [half, stored] = [n[2] / 2, n[2] / 2 + 1];
  const isDense = ({ embed, stride, distance }: Layout, row: number): boolean =>
    stride === 1 && distance === n[0] * n[1] * row && [1, 2].every((d) => d <= 3 - rank || embed[d] === (d === 2 ? row : n[d]));
  if (!(type === 'R2C' || type === 'D2Z') || n[2] % 2 !== 0 || half < 2 || !radicesOf(half)) return undefined;
  if (!isDense(input, n[2])) return undefined;
  if (rank > 1) return narrow * Math.ceil(stored / narrow);
  return isDense(output, stored) ? stored : undefined;
}

/** What is read and written. */
export const formsOf = (type: TransformType): readonly [Form, Form] =>
  type === 'R2C' || type === 'D2Z' ? ['real', 'half'] : type === 'C2R' || type === 'Z2D' ? ['half', 'real'] : ['complex', 'complex'];

/** The reals from the first number of a layout to its last one. */
export function needed({ n, batch }: Sizes, { embed, stride, distance }: Layout, form: Form): number {
  const row = form === 'half' ? Math.floor(n[2] / 2) + 1 : n[2];
  const last = (((n[0] - 1) * embed[1] + n[1] - 1) * embed[2] + row - 1) * stride + (batch - 1) * distance;
  return (last + 1) * (form === 'real' ? 1 : 2);
}
