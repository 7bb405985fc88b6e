/**
 * GPU cores by the name of a chip, for systems that do not report them. CUDA calls a GPU core a multiprocessor.
 *
 * Source: Apple’s technical specifications of the Macs with each chip.
 */

/** Fewest and most cores of the GPU, by the name that Metal gives the device. */
export const chips: Readonly<Record<string, readonly [least: number, most: number]>> = {
  'Apple M1': [7, 8],
  'Apple M1 Pro': [14, 16],
  'Apple M1 Max': [24, 32],
  'Apple M1 Ultra': [48, 64],
  'Apple M2': [8, 10],
  'Apple M2 Pro': [16, 19],
  'Apple M2 Max': [30, 38],
  'Apple M2 Ultra': [60, 76],
  'Apple M3': [8, 10],
  'Apple M3 Pro': [14, 18],
  'Apple M3 Max': [30, 40],
  'Apple M3 Ultra': [60, 80],
  'Apple M4': [8, 10],
  'Apple M4 Pro': [16, 20],
  'Apple M4 Max': [32, 40],
};

/** The number of cores that was counted, otherwise the range of the chip; undefined for an unknown chip. */
export function coresOf(name: string, counted: number | undefined): number | string | undefined {
  const range = chips[name];
  return counted ?? (range && `${range[0]} to ${range[1]}, by its name`);
}
