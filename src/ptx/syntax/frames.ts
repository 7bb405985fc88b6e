/** What braces open, while a text is read. */
import type { Label, PtxFunction, Section, SectionData, Statement } from './ast.ts';
import type { SectionStart } from './line.ts';

/** A function whose braces are closed, as long as it could turn out that they were closed too early. */
export interface Ended {
  readonly frame: Frame & { readonly kind: 'function' };
  readonly close: number;
  /** Its place among the items, where its head could be read. */
  readonly item: number;
}

/** An open brace and what was read since. */
export type Frame =
  | { readonly kind: 'function'; readonly head: PtxFunction | undefined; readonly open: number; readonly body: Statement[] }
  | { readonly kind: 'block'; readonly open: number; readonly body: Statement[] }
  | { readonly kind: 'section'; readonly head: SectionStart; readonly open: number; readonly items: (Label | SectionData)[] };

/** What a brace opens, in words. */
export function nameOf(frame: Frame): string {
  const head = frame.kind === 'block' ? undefined : frame.head;
  return head ? `\`${head.name}\`` : 'this body';
}

/** A section that its brace closes. */
export const sectionOf = ({ name, span }: SectionStart, items: (Label | SectionData)[], end: number): Section => ({
  kind: 'section',
  name,
  items,
  span: { start: span.start, end },
});
