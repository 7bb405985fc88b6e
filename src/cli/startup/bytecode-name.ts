/** The name of the running Bun among those that have bytecode; no other version loads it. */
export const bytecodeName = (): string => `${Bun.version}-${Bun.revision.slice(0, 9)}-${process.platform}-${process.arch}`;
