/** LLVM IR that this room does not translate. It unwinds to `index.ts`, which reports it. */
export class Refused extends Error {
  /** The line of the source; known once the instruction is. */
  where: string | undefined;
}

/** Refuses what cannot be translated. */
export function refuse(why: string): never {
  throw new Refused(why);
}
