/** Hand-packed bit fields, for specs that must not rely on the product's writer: fields in order, lowest bit first. */

export type Field = readonly [value: number | bigint, width: number];

/** Pads to the next 32-bit word. */
export const align: Field = [0, -32];

/** The bytes of consecutive fields, padded to a whole word. */
export function pack(...fields: readonly Field[]): Uint8Array {
  let bits = '';
  const pad = (): string => '0'.repeat((32 - (bits.length % 32)) % 32);
  for (const [value, width] of fields) {
    if (width < 0) bits += pad();
    else bits += [...BigInt(value).toString(2).padStart(width, '0')].reverse().join('');
  }
  bits += pad();
  return Uint8Array.from({ length: bits.length / 8 }, (_, i) => Number.parseInt([...bits.slice(i * 8, i * 8 + 8)].reverse().join(''), 2));
}

/** `BC` C0 DE */
export const magic: Field = [0xdec04342, 32];

/** The parts that are common to all streams; each number small enough to be one chunk of its variable-width field. */
export const enter = (abbreviationWidth: number, id: number, width: number, words: number): Field[] => [
  [1, abbreviationWidth],
  [id, 8],
  [width, 4],
  align,
  [words, 32],
];
export const end = (abbreviationWidth: number): Field[] => [[0, abbreviationWidth], align];
export const plain = (abbreviationWidth: number, code: number, ...ops: number[]): Field[] => [
  [3, abbreviationWidth],
  [code, 6],
  [ops.length, 6],
  ...ops.map((op): Field => [op, 6]),
];

/** A block around fields, its length worked out. */
export const block = (outerWidth: number, id: number, width: number, ...body: readonly Field[]): Field[] => {
  const inside = [...body, ...end(width)];
  return [...enter(outerWidth, id, width, pack(...inside).length / 4), ...inside];
};
