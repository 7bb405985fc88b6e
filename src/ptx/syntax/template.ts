/**
 * From what Ohm found in a line to a template: a function that builds the line's tree from the tokens of any line of the
 * same shape. Templates are closures; what a shape fixes (operators, types, spaces) they hold as constants.
 */
import type { MatchResult, Node as OhmNode, Semantics } from 'ohm-js';
import type { Make } from './cursor.ts';
import { grammar } from './grammar.ts';
import type { Line } from './line.ts';
import { copyNode, type Node, type Places, walk } from './nodes.ts';
import { operandActions } from './template-operands.ts';
import { statementActions } from './template-statements.ts';

const actions = { ...operandActions, ...statementActions };
let semantics: Semantics | undefined;

/** The part of a match that templates are made of. */
export function copyOf(match: MatchResult, places: Places): Node {
  semantics ??= grammar().createSemantics();
  return copyNode(semantics(match) as unknown as OhmNode, places, actions);
}

/** The template of a line; `text` gives its tokens that are no holes. */
export const templateOf = (node: Node, text: (token: number) => string): Make<Line> => walk(node, actions, text);
