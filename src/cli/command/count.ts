/** Counts on the command line. */

/** The count of an option from `min` to `max`, or what is wrong with the word. */
export function readCount(name: string, word: string, min: number, max = Number.POSITIVE_INFINITY): number | string {
  const value = /^\d{1,12}$/.test(word) ? Number(word) : Number.NaN;
  if (value >= min && value <= max) return value;
  return `invalid value \`${word}\` for \`--${name}\`: expected an integer ${max < Number.POSITIVE_INFINITY ? `from ${min} to ${max}` : `of at least ${min}`}`;
}
