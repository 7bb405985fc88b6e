/** The result of one line, before it is added to the tree. */
import type { Span } from '../../base/source.ts';
import type { Directive, Instruction, Label, Operand, PtxFunction, SectionData, Variable, Word } from './ast.ts';
import type { Cursor } from './cursor.ts';

/** Variables are a list, because one declaration may name several. */
export type Line =
  | readonly Variable[]
  | Variable
  | PtxFunction
  | Instruction
  | Label
  | Directive
  | SectionData
  | SectionStart
  | Header
  | Operand;

export interface SectionStart {
  readonly kind: 'sectionStart';
  readonly name: string;
  readonly span: Span;
}

/** A directive that becomes a field of the module. */
export type Header =
  | { readonly kind: 'version'; readonly text: string; readonly span: Span }
  | { readonly kind: 'target'; readonly targets: readonly Word[] }
  | { readonly kind: 'addressSize'; readonly bits: number; readonly span: Span };

/** The directive name of a header, with its span. */
export function headerWord(line: Header): Word {
  if (line.kind === 'version') return { name: '.version', span: line.span };
  if (line.kind === 'addressSize') return { name: '.address_size', span: line.span };
  return { name: '.target', span: { start: line.targets[0]!.span.start, end: line.targets.at(-1)!.span.end } };
}

/** The kind of a line: the rule of the grammar that matches it. */
export type LineRule = 'ModuleLine' | 'BodyLine' | 'SectionLine' | 'Initializer' | 'Parameter';

/** Builds the tree of a line; undefined if the line does not match. */
export type BuildLine = (c: Cursor, rule: LineRule) => Line | undefined;
