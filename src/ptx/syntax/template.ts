/**
 * Builds templates from Ohm matches. A template is a function that builds the tree of any line of the same shape from its tokens. Templates
 * are closures over the constants of the shape (operators, types, spaces).
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

/** The parts of a match that templates need. */
export function copyOf(match: MatchResult, places: Places): Node {
  semantics ??= grammar().createSemantics();
  return copyNode(semantics(match) as unknown as OhmNode, places, actions);
}

/** The template of a line; `text` returns the tokens that are not holes. */
export const templateOf = (node: Node, text: (token: number) => string): Make<Line> => walk(node, actions, text);
