/** SHA-256 of the host: Bun's own is there without loading anything. */
const inBun = (bytes: Uint8Array): Uint8Array => new Uint8Array(Bun.SHA256.hash(bytes) as Uint8Array);
const inNode = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(process.getBuiltinModule('node:crypto').createHash('sha256').update(bytes).digest());

/** An option of the compiler, which has one that is slower. */
export const hostHash = { sha256: typeof Bun === 'undefined' ? inNode : inBun } as const;
