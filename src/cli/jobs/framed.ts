/** JSON and bytes as one message between processes of this program. */

/** The JSON at the head of bytes, and the bytes behind it. */
export interface Framed {
  readonly head: unknown;
  readonly rest: Uint8Array;
}

/** The length of the JSON as a 32-bit integer, the JSON, the bytes. */
export function framed(head: unknown, parts: readonly Uint8Array[]): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(head));
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 4 + json.length));
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, 4);
  let at = 4 + json.length;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Undefined for bytes that were cut off. */
export function unframed(bytes: Uint8Array): Framed | undefined {
  const length = bytes.length < 4 ? Number.POSITIVE_INFINITY : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (4 + length > bytes.length) return undefined;
  return { head: JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))), rest: bytes.subarray(4 + length) };
}
