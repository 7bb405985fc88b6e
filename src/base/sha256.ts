/** SHA-256 from @noble/hashes, which runs in Bun, Node and browsers (`crypto.subtle` is asynchronous). */
import { sha256 as hash } from '@noble/hashes/sha2.js';

/** The 32-byte SHA-256 of `bytes`. */
export const sha256 = (bytes: Uint8Array): Uint8Array => hash(bytes);
