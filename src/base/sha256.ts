/** SHA-256 through @noble/hashes, which runs in Bun, Node and browsers alike (`crypto.subtle` is asynchronous). */
import { sha256 as hash } from '@noble/hashes/sha2.js';

/** The 32 bytes of SHA-256 over `bytes`. */
export const sha256 = (bytes: Uint8Array): Uint8Array => hash(bytes);
