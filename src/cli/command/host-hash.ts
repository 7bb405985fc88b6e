/** SHA-256 of the host. Bun's own needs no module to be loaded. */
const inBun = (bytes: Uint8Array): Uint8Array => new Uint8Array(Bun.SHA256.hash(bytes) as Uint8Array);
const inNode = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(process.getBuiltinModule('node:crypto').createHash('sha256').update(bytes).digest());

/** A compile option that replaces the compiler's own, slower SHA-256. */
export const hostHash = { sha256: typeof Bun === 'undefined' ? inNode : inBun } as const;
