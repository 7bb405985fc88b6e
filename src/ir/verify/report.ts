/** How a check of the verifier reports. */
import type { Where } from '../../base/diagnostic.ts';
import type { SourceFile, Span } from '../../base/source.ts';

export type Rule = `B${1 | 2 | 3 | 4 | 5}` | `V${1 | 2 | 3 | 4}` | `T${1 | 2 | 3 | 4 | 5 | 6}` | `M${1 | 2 | 3 | 4 | 5}`;

/** Adds a broken promise, at a place in the source where one is known. */
export type Report = (rule: Rule, why: string, loc?: Span) => void;

/** A place only if there is a text for it. */
export const spanOf = (loc: Span | undefined, file: SourceFile | undefined): Where => (loc && file ? { span: loc } : {});
