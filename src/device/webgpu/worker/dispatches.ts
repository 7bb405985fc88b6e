/** The parts of a grid that are dispatched one after the other. */
import type { Ask } from './messages.ts';

/** A part of a grid: the words of its launch, and its workgroups. */
export interface Dispatch {
  readonly words: Uint8Array;
  readonly groups: readonly [number, number, number];
}

/** Parts of at most `most` blocks along each axis, each with its place, in the order of the blocks. */
export function* dispatchesOf({ grid, most, words, placeAt }: Extract<Ask, { ask: 'launch' }>): Generator<Dispatch> {
  for (let z = 0; z < grid[2]; z += most)
    for (let y = 0; y < grid[1]; y += most)
      for (let x = 0; x < grid[0]; x += most) {
        const own = words.slice();
        const view = new DataView(own.buffer);
        const start = [x, y, z];
        for (const [axis, at] of start.entries()) view.setUint32(placeAt + 4 * axis, at, true);
        const groups = start.map((at, axis) => Math.min(most, grid[axis]! - at)) as [number, number, number];
        yield { words: own, groups };
      }
}
