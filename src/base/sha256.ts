/** SHA-256 through sha.js, which runs in Bun, Node and browsers alike (`crypto.subtle` is asynchronous). */
import sha from 'sha.js';

/** The 32 bytes of SHA-256 over `bytes`. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(
    sha('sha256')
      .update(bytes as never)
      .digest(),
  );
}
