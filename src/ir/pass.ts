/** A pass: a named function that changes a kernel in place. Lists of passes are tables, so that each can be observed by its name. */
import type { Kernel } from './kernel.ts';

export interface Pass {
  readonly name: string;
  /** Returns whether the kernel changed. */
  run(kernel: Kernel): boolean;
}

/** An observer of a pipeline: it is called with the kernel after each pass, whether the pass changed anything or not. */
export type AfterPass = (pass: string, kernel: Kernel) => void;

/** Several observers as one, called in order; nothing if there is none. */
export function observers(...all: readonly (AfterPass | undefined)[]): AfterPass | undefined {
  const given = all.filter((each) => each !== undefined);
  if (given.length === 0) return undefined;
  return (pass, kernel) => {
    for (const each of given) each(pass, kernel);
  };
}
