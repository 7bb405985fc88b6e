/** How transforms of whole layouts run in passes over lines, which read and write the memory of the program themselves. */
import { type Step, swapped } from './arrays.ts';
import { narrow } from './kernels.ts';
import type { Layout, Sizes } from './layout.ts';
import { columnStep, type LineHost, pitchBetween, realStep } from './line-plan.ts';

/** Steps from the memory of a program to that of its results. */
export interface Route {
  readonly steps: readonly Step[];
  /** Numbers from one row to the next between steps; by default rows follow each other. */
  readonly pitch: number | undefined;
  /** Numbers from one row to the next of the input and of the output, as pairs. */
  readonly pitches: readonly [number, number];
  /** Whether results are pairs with the imaginary part first. */
  readonly isSwapped: boolean;
}

/** Elements from one row to the next; undefined where rows are not as far from each other everywhere. */
function rowPitch({ n, rank, batch }: Sizes, { embed, stride, distance }: Layout): number | undefined {
  if (stride !== 1) return undefined;
  if (rank === 1) return distance;
  const isEven = (rank === 2 || embed[1] === n[1]) && (batch === 1 || distance === n[0] * n[1] * embed[2]);
  return isEven ? embed[2] : undefined;
}

/** The route of complex numbers: the steps of all dimensions, if they take the rows as they are. */
function complexRoute(sizes: Sizes, steps: readonly Step[], pitches: readonly [number, number]): Route | undefined {
  const { n, rank } = sizes;
  if (steps.length === 0 || steps[0]!.takesParts || steps.at(-1)!.takesParts) return undefined;
  const isDense = (pitch: number): boolean => pitch === n[2];
  const takes = [steps[0]!.takesPitches && n[2] > 1, steps.at(-1)!.takesPitches && rank < 3 && (rank === 1 || n[2] > 1)];
  if (!pitches.every((pitch, side) => isDense(pitch) || takes[side])) return undefined;
  const isPadded = rank === 2 && steps.every(({ takesPitches }) => takesPitches);
  return { steps, pitch: isPadded ? pitchBetween(n[2]) : undefined, pitches, isSwapped: false };
}

/** The steps of the first dimensions over `stored` columns, which begin with the last one of them. */
function columnSteps(host: LineHost, { n, batch }: Sizes, stored: number): Step[] | undefined {
  const steps: (Step | undefined)[] = [];
  if (n[1] > 1) steps.push(columnStep(host, { length: n[1], outer: n[0] * batch, inner: stored, kind: 'plain' }));
  if (n[0] > 1) steps.push(columnStep(host, { length: n[0], outer: batch, inner: n[1] * stored, kind: 'plain', isOfPlanes: true }));
  return steps.includes(undefined) ? undefined : (steps as Step[]);
}

function realRoute(host: LineHost, sizes: Sizes, [first, second]: readonly [number, number]): Route | undefined {
  const { n, rank, batch, type } = sizes;
  const isSplit = type === 'R2C' || type === 'D2Z';
  const [real, half] = isSplit ? [first, second] : [second, first];
  const stored = n[2] / 2 + 1;
  if (real % 2 !== 0) return undefined;
  const rows = realStep(host, n[2], n[0] * n[1] * batch, isSplit ? 'split' : 'join');
  const columns = rows && columnSteps(host, sizes, stored);
  // Rows of three dimensions follow each other, because those of a plane are columns of the first dimension.
  if (!columns || (rank === 3 && half !== stored)) return undefined;
  const pitch = rank === 2 ? narrow * Math.ceil(stored / narrow) : stored;
  if (isSplit) return { steps: [rows, ...columns], pitch, pitches: [real / 2, half], isSwapped: false };
  const back = columns.reverse().map(
    (step): Step =>
      (from, to) =>
        step(swapped(from), swapped(to)),
  );
  return { steps: [...back, rows], pitch, pitches: [half, real / 2], isSwapped: true };
}

/** The route of a transform in two layouts; `steps` are those of complex numbers. Undefined where numbers have to be put in order first. */
export function routeOf(host: LineHost, sizes: Sizes, steps: readonly Step[], layouts: readonly [Layout, Layout]): Route | undefined {
  const [input, output] = layouts.map((layout) => rowPitch(sizes, layout));
  if (input === undefined || output === undefined) return undefined;
  const isComplex = sizes.type === 'C2C' || sizes.type === 'Z2Z';
  return isComplex ? complexRoute(sizes, steps, [input, output]) : realRoute(host, sizes, [input, output]);
}

/** Whether the only step of a route may write what it reads: rows that lie elsewhere would overwrite others. */
export const mayOverwrite = ({ steps, pitches: [from, to] }: Route): boolean => steps.length > 1 || from === to;
