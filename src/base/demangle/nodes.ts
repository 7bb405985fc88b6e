/** The parts of a demangled name, as a tree that `print.ts` writes in the order of C++ declarations. */

export type Node =
  /** An identifier, a builtin type, or any other text. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'qualified'; readonly scope: Node; readonly name: Node }
  | { readonly kind: 'template'; readonly name: Node; readonly args: readonly Node[] }
  /** A name with an ABI tag. */
  | { readonly kind: 'tagged'; readonly of: Node; readonly tag: string }
  /** `const`, `volatile`, `restrict` or a qualifier of a vendor. */
  | { readonly kind: 'qualifiers'; readonly of: Node; readonly words: readonly string[] }
  | { readonly kind: 'pointer'; readonly of: Node; readonly mark: '*' | '&' | '&&' }
  | { readonly kind: 'member-pointer'; readonly owner: Node; readonly of: Node }
  | { readonly kind: 'array'; readonly of: Node; readonly size: Node | undefined }
  /** The type of a function. `suffix`: what follows the parameters, such as ` const`. */
  | { readonly kind: 'function'; readonly returns: Node; readonly params: readonly Node[]; readonly suffix: string }
  /** A function with its name. Only templates have the return type in their name. */
  | {
      readonly kind: 'encoding';
      readonly name: Node;
      readonly returns: Node | undefined;
      readonly params: readonly Node[];
      readonly suffix: string;
    }
  /** The arguments of a parameter pack. */
  | { readonly kind: 'pack'; readonly items: readonly Node[] }
  /** A pattern that is repeated for each item of the packs in it. */
  | { readonly kind: 'expansion'; readonly of: Node }
  /** A parameter of the template whose encoding it is in. The same reference may occur in several encodings. */
  | { readonly kind: 'param'; readonly index: number }
  /** The type of a closure, whose own template parameters are those of its parameters. */
  | { readonly kind: 'lambda'; readonly params: readonly Node[]; readonly number: number }
  /** `sizeof...` of a pack. */
  | { readonly kind: 'count'; readonly of: Node }
  /** A list in braces. */
  | { readonly kind: 'braces'; readonly type: Node | undefined; readonly items: readonly Node[] }
  | { readonly kind: 'parts'; readonly parts: readonly (string | Node)[] }
  /** Parts separated by commas; empty ones are left out. */
  | { readonly kind: 'list'; readonly items: readonly Node[] };

export const text = (word: string): Node => ({ kind: 'text', text: word });
export const parts = (...all: (string | Node)[]): Node => ({ kind: 'parts', parts: all });
export const list = (items: readonly Node[]): Node => ({ kind: 'list', items });

/** The last component of a name without template arguments and tags, which is the name of a constructor. */
export function baseOf(node: Node): Node {
  if (node.kind === 'qualified') return baseOf(node.name);
  if (node.kind === 'tagged') return baseOf(node.of);
  return node.kind === 'template' ? baseOf(node.name) : node;
}

/** The direct parts of a node. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'text':
    case 'param':
      return [];
    case 'qualified':
      return [node.scope, node.name];
    case 'template':
      return [node.name, ...node.args];
    case 'tagged':
    case 'qualifiers':
    case 'pointer':
    case 'expansion':
    case 'count':
      return [node.of];
    case 'braces':
      return [...(node.type ? [node.type] : []), ...node.items];
    case 'member-pointer':
      return [node.owner, node.of];
    case 'array':
      return node.size ? [node.of, node.size] : [node.of];
    case 'function':
      return [node.returns, ...node.params];
    case 'encoding':
      return [node.name, ...(node.returns ? [node.returns] : []), ...node.params];
    case 'parts':
      return node.parts.filter((part): part is Node => typeof part !== 'string');
    case 'lambda':
      return node.params;
    case 'pack':
    case 'list':
      return node.items;
  }
}

/** The template arguments of the last component of a name; undefined if that is no template. */
export function lastArgs(node: Node): readonly Node[] | undefined {
  if (node.kind === 'qualified') return lastArgs(node.name);
  return node.kind === 'template' ? node.args : undefined;
}
