/** The ways in which a person may write the name of a C++ function. */
import { lastArgs, type Node } from './nodes.ts';
import { printNode } from './print.ts';

/** The signature without the return type: `ns::scale<float>(float*)`. */
export const signatureOf = (node: Node): string => printNode(node.kind === 'encoding' ? { ...node, returns: undefined } : node);

/**
 * Every spelling of a function, without spaces: with and without its parameters, its template arguments and the outer ones of its
 * namespaces and classes.
 */
export function spellingsOf(node: Node): Set<string> {
  const name = node.kind === 'encoding' ? node.name : node;
  const signature = signatureOf(node);
  const whole = printNode(name);
  const params = signature.startsWith(whole) ? signature.slice(whole.length) : '';
  const found = new Set([withoutSpaces(printNode(node)), withoutSpaces(signature)]);
  const components = componentsOf(name);
  components.forEach((_, from) => {
    const path = components.slice(from);
    for (const hasArgs of [true, false]) {
      const spelled = path.map((each, i) => (i < path.length - 1 || hasArgs ? each.whole : each.plain)).join('::');
      const plain = path.map(({ plain }) => plain).join('::');
      for (const each of [spelled, plain]) {
        found.add(withoutSpaces(each));
        found.add(withoutSpaces(`${each}${params}`));
      }
    }
  });
  return found;
}

/** A name as `spellingsOf` spells it. */
export const withoutSpaces = (text: string): string => text.replace(/\s+/g, '');

interface Component {
  readonly whole: string;
  /** Without template arguments. */
  readonly plain: string;
}

/** The components of a qualified name. Unnamed namespaces are left out. */
function componentsOf(node: Node): Component[] {
  if (node.kind === 'qualified') return [...componentsOf(node.scope), ...componentsOf(node.name)];
  // The arguments follow the whole qualified name.
  if (node.kind === 'template' && node.name.kind === 'qualified') {
    const { scope, name } = node.name;
    return [...componentsOf(scope), ...componentsOf({ ...node, name })];
  }
  const whole = printNode(node);
  if (whole === '(anonymous namespace)') return [];
  return [{ whole, plain: node.kind === 'template' && lastArgs(node) ? printNode(node.name) : whole }];
}
