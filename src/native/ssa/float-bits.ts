/** Floats and their bits. */

const view = new DataView(new ArrayBuffer(8));

/** The number that the bits of a float of 32 or 64 bits are. */
export function floatOfBits(bits: bigint, width: number): number {
  view.setBigUint64(0, bits);
  return width === 32 ? view.getFloat32(4) : view.getFloat64(0);
}

/** The bits of a number as a float, to which it is rounded. */
export function bitsOfFloat(value: number, width: number): bigint {
  if (width === 32) {
    view.setFloat32(0, value);
    return BigInt(view.getUint32(0));
  }
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}
