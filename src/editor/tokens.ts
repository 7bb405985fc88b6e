/** Kinds of words, for colors that depend on meaning: a grammar of regular expressions cannot tell a register from a label. */
import type { Span } from '../base/source.ts';
import { type Instruction, modifierSpan, registerTypes, specialRegisters } from '../ptx/index.ts';
import type { PtxDocument } from './document.ts';
import { type Mention, namesOf, statementsOf } from './names.ts';

/** The kinds, in the words of the Language Server Protocol. */
export const tokenKinds = ['keyword', 'type', 'decorator', 'variable', 'parameter', 'macro', 'label', 'function', 'property'] as const;
export type TokenKind = (typeof tokenKinds)[number];

export interface Token extends Span {
  readonly kind: TokenKind;
}

/** The words in a range whose kind is known, in order. */
export function tokensIn(document: PtxDocument, range: Span): Token[] {
  const tokens: Token[] = [];
  for (const { start, end } of document.places()) {
    if (end < range.start || start > range.end) continue;
    const focus = document.focusAt(start);
    if (!focus) continue;
    for (const mention of namesOf(focus.fn, focus.module, range).mentions) {
      const kind = kindOf(mention);
      if (kind && overlaps(mention.span, range)) tokens.push({ ...mention.span, kind });
    }
    for (const statement of statementsOf(focus.fn.body ?? []))
      if (statement.kind === 'instruction' && overlaps(statement.span, range)) addOpcode(tokens, document, statement);
  }
  return tokens.sort((a, b) => a.start - b.start);
}

const overlaps = (a: Span, b: Span): boolean => a.start < b.end && b.start < a.end;

function kindOf({ name, meaning }: Mention): TokenKind | undefined {
  if (!meaning) return specialRegisters.has(name) || name === 'WARP_SZ' ? 'macro' : undefined;
  if (meaning.kind === 'register') return 'variable';
  return meaning.kind === 'variable' ? 'property' : meaning.kind;
}

function addOpcode(tokens: Token[], document: PtxDocument, instruction: Instruction): void {
  const { start } = instruction.opcodeSpan;
  tokens.push({ start, end: start + instruction.opcode.length, kind: 'keyword' });
  instruction.modifiers.forEach((word, i) => {
    tokens.push({ ...modifierSpan(document.source, instruction, i), kind: word in registerTypes ? 'type' : 'decorator' });
  });
}
