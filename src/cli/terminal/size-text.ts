/** Sizes for people. */

/** `32 KiB`, `4 GiB`: a size in the largest unit in which it is at least 1, with one decimal. */
export function sizeText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) {
    bytes /= 1024;
    unit++;
  }
  return `${Number(bytes.toFixed(1))} ${units[unit]}`;
}
