/** Open braces during parsing. */
import type { Label, PtxFunction, Section, SectionData, Statement } from './ast.ts';
import type { SectionStart } from './line.ts';

/** A function with closed braces, while a later line may still show that they were closed too early. */
export interface Ended {
  readonly frame: Frame & { readonly kind: 'function' };
  readonly close: number;
  /** Its index among the items, if its head could be parsed. */
  readonly item: number;
}

/** An open brace and its content so far. */
export type Frame =
  | { readonly kind: 'function'; readonly head: PtxFunction | undefined; readonly open: number; readonly body: Statement[] }
  | { readonly kind: 'block'; readonly open: number; readonly body: Statement[] }
  | { readonly kind: 'section'; readonly head: SectionStart; readonly open: number; readonly items: (Label | SectionData)[] };

/** A description of the construct that a brace opens. */
export function nameOf(frame: Frame): string {
  const head = frame.kind === 'block' ? undefined : frame.head;
  return head ? `\`${head.name}\`` : 'this body';
}

/** A section, at its closing brace. */
export const sectionOf = ({ name, span }: SectionStart, items: (Label | SectionData)[], end: number): Section => ({
  kind: 'section',
  name,
  items,
  span: { start: span.start, end },
});
