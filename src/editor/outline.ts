/** The functions, variables and labels of a text. */
import { demangle } from '../base/demangle/index.ts';
import type { Span } from '../base/source.ts';
import type { PtxFunction, Variable } from '../ptx/index.ts';
import type { PtxDocument } from './document.ts';
import { statementsOf } from './names.ts';

/** An item of the outline. `name` is within `span`, which has all of the item. */
export interface OutlineItem {
  readonly kind: 'entry' | 'function' | 'variable' | 'label';
  readonly name: string;
  /** The C++ name, the state space and the type. */
  readonly detail: string;
  readonly span: Span;
  readonly nameSpan: Span;
  readonly children: readonly OutlineItem[];
}

/** The outline of a text, in order. */
export function outlineOf(document: PtxDocument): OutlineItem[] {
  return document.module().items.flatMap((item): OutlineItem[] => {
    if (item.kind === 'variable') return [ofVariable(item)];
    return item.kind === 'function' ? [ofFunction(item)] : [];
  });
}

const ofVariable = ({ name, space, vector, type, span, nameSpan }: Variable): OutlineItem => ({
  kind: 'variable',
  name,
  detail: `.${space}${vector ? ` .${vector}` : ''} .${type}`,
  span,
  nameSpan,
  children: [],
});

function ofFunction({ name, isEntry, span, nameSpan, body }: PtxFunction): OutlineItem {
  const children: OutlineItem[] = [];
  for (const statement of statementsOf(body ?? [])) {
    if (statement.kind === 'label')
      children.push({ kind: 'label', name: statement.name, detail: '', span: statement.span, nameSpan: statement.span, children: [] });
    else if (statement.kind === 'variable' && statement.space === 'shared') children.push(ofVariable(statement));
  }
  return { kind: isEntry ? 'entry' : 'function', name, detail: demangle(name) ?? '', span, nameSpan, children };
}
