/** The limits of a text, so that its cost is bounded whatever it holds. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';

/**
 * Limits of tokens, nested brackets, nested scopes, and consecutive statements without semicolons; of the statements and the list elements of
 * a module, or of an entry that is parsed by itself, which take a kilobyte each until they are compiled; of variables that a count declares; and
 * of syntax errors, whose messages take the time of a hundred statements each. All are above compiler output.
 */
export const limits = {
  tokens: 50_000,
  nesting: 64,
  scopes: 256,
  cuts: 20,
  statements: 2 ** 20,
  elements: 2 ** 22,
  names: 1024,
  errors: 1000,
} as const;

/** The numbers of statements, list elements and failed lines so far. */
export interface Counts {
  statements: number;
  elements: number;
  failures: number;
}

/** Whether a limit ends the parsing of a module at `span`; reports CM1014 or CM1015. */
export function areBeyondLimits({ statements, elements, failures }: Counts, span: Span, diagnostics: Diagnostics): boolean {
  if (statements > limits.statements) diagnostics.report('CM1015', { what: 'statements', limit: limits.statements }, { span });
  else if (elements > limits.elements) diagnostics.report('CM1015', { what: 'list elements', limit: limits.elements }, { span });
  else if (failures < limits.errors) return false;
  else diagnostics.report('CM1014', { count: limits.errors }, { span });
  return true;
}
