/** Advice on a text that an editor shows, for a launch that is not known. */
import { advise } from '../advise/index.ts';
import { type Diagnostic, Diagnostics } from '../base/diagnostic.ts';
import type { PtxDocument } from './document.ts';

/** Characters up to which a text is analyzed: an answer compiles all of it. */
const maxLength = 30_000;

/** The advice on a text without errors. */
export function adviceOn({ source }: PtxDocument): readonly Diagnostic[] {
  if (source.text.length > maxLength) return [];
  const diagnostics = new Diagnostics(source);
  const found = advise(source, () => undefined, {}, diagnostics);
  return found ? diagnostics.list.filter(({ code }) => code.startsWith('CM23')) : [];
}
