/** The CUDA headers that are part of the program. */
import { readHeaders } from './read-headers.ts';

/** The text of each header by its path in an `#include`. */
export const headers: Readonly<Record<string, string>> = readHeaders();
