/**
 * Passes of a sort for processors: a thread goes over a tile of many keys one after another, with a counter for each digit. What threads of a GPU need
 * to agree on where equal digits go (votes, ranks, an ordered tile in shared memory) costs a processor several times what it saves.
 */
import { blockIndex, kernel, local, loop, type Pointer, ptr, shared, u32, type Value } from '../build/index.ts';
import { blocksFor, portable, type Routine, routine } from './routine.ts';
import { bitsType, digitOf, digits, keyType, type SortForm, type SortPass, sortName } from './sort-form.ts';

type Word = Value<'u32'>;
type Global = Pointer<'f32', 'global'>;

/** Tiles are enough for the threads of a processor, and the counters of a tile few beside its keys. */
const maxTiles = 64;
const minKeys = 8192;

/** The keys of a tile, by the number of all keys alone, so that results do not depend on the machine. */
export const serialTile = (n: number): number => Math.max(minKeys, blocksFor(n, maxTiles));

/** Calls a function with the place of each key of the tile in turn. */
function eachKey(n: Word, tile: Word, visit: (i: Word) => void): void {
  const first = blockIndex().mul(tile);
  loop(first, first.add(n.sub(first).min(tile)), 1, visit);
}

/** Counts the keys of each digit in each tile. */
export const serialCount = (form: SortForm): Routine<never, SortPass> =>
  routine(
    sortName('serial_count', form),
    (name) =>
      kernel(
        name,
        { keys: ptr(keyType(form)), counts: ptr(u32), n: u32, tiles: u32, tile: u32, shift: u32 },
        ({ keys, counts, n, tiles, tile, shift }) => {
          const own = shared(u32, digits);
          loop(0, digits, 1, (digit) => own.at(digit).set(0));
          eachKey(n, tile, (i) => {
            const counter = own.at(digitOf(form, keys.at(i).get(), shift));
            counter.set(counter.get().add(1));
          });
          loop(0, digits, 1, (digit) => counts.at(digit.mad(tiles, blockIndex())).set(own.at(digit).get()));
        },
        { ...portable, block: 1 },
      ),
    ({ keys, counts, n, tiles, shift }: SortPass) => ({
      grid: tiles,
      block: 1,
      args: { keys, counts, n, tiles, tile: serialTile(n), shift } as never,
    }),
  ) as unknown as Routine<never, SortPass>;

/** Moves each key to the next place of its digit. */
export const serialScatter = (form: SortForm): Routine<never, SortPass> => {
  const [type, valueType] = [keyType(form), bitsType(form.value)];
  const arrays = { keys: ptr(type), values: ptr(valueType), toKeys: ptr(type), toValues: ptr(valueType), counts: ptr(u32) };
  return routine(
    sortName('serial_scatter', form),
    (name) =>
      kernel(
        name,
        { ...arrays, n: u32, tiles: u32, tile: u32, shift: u32 },
        ({ keys, values, toKeys, toValues, counts, n, tiles, tile, shift }) => {
          const next = shared(u32, digits);
          loop(0, digits, 1, (digit) => next.at(digit).set(counts.at(digit.mad(tiles, blockIndex())).get()));
          eachKey(n, tile, (i) => {
            const key = (keys as Global).at(i).get();
            const place = next.at(digitOf(form, key, shift));
            const to = local(u32, place.get());
            place.set(to.get().add(1));
            (toKeys as Global).at(to).set(key);
            if (form.value > 0) (toValues as Global).at(to).set((values as Global).at(i).get());
          });
        },
        { ...portable, block: 1 },
      ),
    (args: SortPass) => ({ grid: args.tiles, block: 1, args: { ...args, tile: serialTile(args.n) } as never }),
  ) as unknown as Routine<never, SortPass>;
};
