/** C++ names from mangled ones, by the Itanium C++ ABI that nvcc, clang and g++ follow. Start at `demangle`. */
import { Cursor, type Grammar, NotMangled } from './cursor.ts';
import { readExpression } from './expressions.ts';
import { readEncoding, readName, readUnqualified } from './names.ts';
import type { Node } from './nodes.ts';
import { NotPrintable, printNode } from './print.ts';
import { signatureOf, spellingsOf, withoutSpaces } from './spellings.ts';
import { readTemplateArgs, readType } from './types.ts';

const grammar: Grammar = {
  encoding: readEncoding,
  name: readName,
  type: readType,
  templateArgs: readTemplateArgs,
  expression: readExpression,
  unqualified: readUnqualified,
};

/** The maximum length of a mangled name. */
const maxMangled = 1 << 14;

/** The C++ name of a mangled name, as `c++filt` prints it; undefined for any other name. */
export const demangle = (mangled: string): string | undefined => ofMangled(mangled, printNode);

/**
 * A name for people: the signature of a C++ function without its return type, and a parameter without the name of its function, which nvcc
 * puts before it; any other name as it is.
 */
export function readableName(name: string): string {
  const [, owner, param] = /^(_Z.+)_(param_\d+)$/.exec(name) ?? [];
  if (owner !== undefined && param !== undefined && demangle(owner) !== undefined) return param;
  return ofMangled(name, signatureOf) ?? name;
}

/** A text in which mangled names between backticks are readable. */
export const withReadableNames = (text: string): string =>
  text.includes('`_Z') ? text.replace(/`(_Z[\w$.]+)`/g, (_, name: string) => `\`${readableName(name)}\``) : text;

/**
 * The names that a person may mean: the name itself if it is there, otherwise the C++ functions of this name, such as `scale`, `ns::scale`,
 * `scale<float>` or `scale(float*)`.
 */
export function namesMeant(wanted: string, names: readonly string[]): string[] {
  if (names.includes(wanted)) return [wanted];
  const spelled = withoutSpaces(wanted);
  return names.filter((name) => ofMangled(name, spellingsOf)?.has(spelled));
}

function ofMangled<T>(mangled: string, use: (node: Node) => T): T | undefined {
  if (!mangled.startsWith('_Z') || mangled.length > maxMangled) return undefined;
  const at = new Cursor(mangled, grammar);
  at.at = 2;
  try {
    const node = readEncoding(at);
    return at.isAtEnd ? use(node) : undefined;
  } catch (error) {
    if (error instanceof NotMangled || error instanceof NotPrintable) return undefined;
    throw error;
  }
}
