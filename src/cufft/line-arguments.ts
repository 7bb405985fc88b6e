/** The parameters of passes over lines. */
import type { Pointer } from '../build/index.ts';
import type { Word } from './line.ts';

/** Memory that passes over lines are given. */
export const linePointers = [
  'fromRe',
  'fromIm',
  'toRe',
  'toIm',
  'steps',
  'turns',
  'otherRe',
  'otherIm',
  'filterRe',
  'filterIm',
  'workRe',
  'workIm',
] as const;
/** Numbers that passes over lines are given. */
export const lineWords = ['units', 'inner', 'fromPitch', 'fromStep', 'toPitch', 'toStep', 'length'] as const;

/**
 * `units` groups of lines; `inner` columns beside each other; numbers from one part or line to the next (`…Pitch`), and from one number of a column to the next
 * (`…Step`). `steps` has the roots of the steps of both factors of a length, `turns` those between them, or behind a first pass, of a lane group at a time; `other` those that take real
 * numbers apart, a chirp, or those between the factors of a first pass; `filter` the transform of the chirp; `work` is memory of long lines. `length` is that of what a convolution gives.
 */
export type LineArguments = Record<(typeof linePointers)[number], Pointer<'f32', 'global'>> & Record<(typeof lineWords)[number], Word>;
