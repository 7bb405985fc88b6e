/** Demangled names as text, spelled as `c++filt` of GNU binutils spells them. */
import { childrenOf, lastArgs, type Node } from './nodes.ts';

/** The maximum length of a demangled name: substitutions can double a name with each letter. */
const maxLength = 1 << 16;

/** The name is longer than `maxLength`, or refers to a template argument that does not exist. */
export class NotPrintable extends Error {}

/** The text of a node. */
export function printNode(node: Node): string {
  return new Printer().whole(node);
}

/** What template parameters and packs refer to. */
interface Scope {
  /** The arguments of the template whose encoding is printed. */
  readonly args: readonly Node[];
  readonly outer: Scope | undefined;
}

/** A node without references, and the scope of its parts. */
interface Resolved {
  readonly node: Node;
  readonly scope: Scope | undefined;
  readonly item: number | undefined;
}

class Printer {
  private scope: Scope | undefined;
  /** The index of the item within the innermost expansion. */
  private item: number | undefined;
  private isInLambda = false;
  private steps = 0;

  whole(node: Node): string {
    const text = this.left(node) + this.right(node);
    if (text.length > maxLength) throw new NotPrintable();
    return text;
  }

  /** What precedes the declarator: `void (*` of `void (*)(int)`. */
  private left(node: Node): string {
    if (++this.steps > maxLength) throw new NotPrintable();
    switch (node.kind) {
      case 'text':
        return node.text;
      case 'qualified':
        return `${this.whole(node.scope)}::${this.whole(node.name)}`;
      case 'template':
        return this.template(this.whole(node.name), node.args);
      case 'tagged':
        return `${this.whole(node.of)}[abi:${node.tag}]`;
      case 'qualifiers':
        return this.left(node.of) + this.newWords(node);
      case 'pointer':
        return this.pointer(node);
      case 'member-pointer':
        return this.memberPointer(node);
      case 'array':
        return this.left(node.of);
      case 'function':
        return this.returned(node.returns);
      case 'encoding':
        return this.encoding(node, () => this.beforeParams(node));
      case 'lambda':
        return this.lambda(node);
      case 'param':
      case 'pack':
        return this.referred(node, (target) => this.left(target));
      case 'expansion':
        return this.expanded(node.of);
      case 'count':
        return String(this.packSize(node.of) ?? `sizeof...(${this.whole(node.of)})`);
      case 'braces':
        return `${node.type ? this.whole(node.type) : ''}{${this.joined(node.items)}}`;
      case 'parts':
        return node.parts.map((part) => (typeof part === 'string' ? part : this.whole(part))).join('');
      case 'list':
        return this.joined(node.items);
    }
  }

  /** What follows the declarator: `)(int)` of `void (*)(int)`. */
  private right(node: Node): string {
    if (++this.steps > maxLength) throw new NotPrintable();
    switch (node.kind) {
      case 'qualifiers':
        return this.right(node.of);
      case 'pointer': {
        const { node: target } = this.resolved(node.of);
        if (isReference(node) && isReference(target)) return this.right(node.of);
        return (this.isOpen(node.of) ? ')' : '') + this.right(node.of);
      }
      case 'member-pointer':
        return (this.isOpen(node.of) ? ')' : '') + this.right(node.of);
      case 'array': {
        const size = node.size ? this.whole(node.size) : '';
        const rest = this.right(node.of);
        return ` [${size}]${this.resolved(node.of).node.kind === 'array' ? rest.trimStart() : rest}`;
      }
      case 'function':
        return `(${this.joined(node.params)})${node.suffix}${this.right(node.returns)}`;
      case 'encoding':
        return this.encoding(node, () => (node.returns ? this.right(node.returns) : ''));
      case 'param':
      case 'pack':
        return this.referred(node, (target) => this.right(target), '');
      default:
        return '';
    }
  }

  /** Follows references to template arguments and to items of packs. */
  private resolved(node: Node): Resolved {
    let [found, scope, item]: [Node, Scope | undefined, number | undefined] = [node, this.scope, this.item];
    for (;;) {
      if (found.kind === 'param') {
        if (this.isInLambda) return { node: found, scope, item };
        const argument: Node | undefined = scope?.args[found.index];
        if (!argument) throw new NotPrintable();
        [found, scope] = [argument, scope?.outer];
        if (found.kind !== 'pack') item = undefined;
      } else if (found.kind === 'pack' && item !== undefined && found.items[item]) [found, item] = [found.items[item]!, undefined];
      else return { node: found, scope, item };
    }
  }

  /** Prints what a reference refers to. `lambda`: the text of a parameter of a generic lambda instead. */
  private referred(node: Node, print: (target: Node) => string, lambda?: string): string {
    const { node: target, scope, item } = this.resolved(node);
    if (target.kind === 'param') return lambda ?? `auto:${target.index + 1}`;
    // A pack outside of an expansion is all of its items.
    if (target.kind === 'pack')
      return item === undefined && lambda === undefined ? this.within(scope, item, () => this.joined(target.items)) : '';
    return this.within(scope, item, () => print(target));
  }

  private within(scope: Scope | undefined, item: number | undefined, print: () => string): string {
    const before = [this.scope, this.item] as const;
    [this.scope, this.item] = [scope, item];
    const text = print();
    [this.scope, this.item] = before;
    return text;
  }

  /** The qualifiers that a type does not have already. */
  private newWords({ of, words }: Node & { kind: 'qualifiers' }): string {
    const { node } = this.resolved(of);
    const known = node.kind === 'qualifiers' ? node.words : [];
    return words
      .filter((word) => !known.includes(word))
      .map((word) => ` ${word}`)
      .join('');
  }

  /** A pointer or reference; references to references collapse. */
  private pointer(node: Node & { kind: 'pointer' }): string {
    const { node: target, scope, item } = this.resolved(node.of);
    if (!isReference(node) || !isReference(target)) return this.opened(node.of, '(') + node.mark;
    const mark = node.mark === '&' ? '&' : target.mark;
    return this.within(scope, item, () => this.pointer({ ...target, mark }));
  }

  /** Whether a pointer to it needs parentheses. */
  private isOpen(node: Node): boolean {
    const { node: target } = this.resolved(node);
    return target.kind === 'function' || target.kind === 'array' || (target.kind === 'qualifiers' && this.isOpen(target.of));
  }

  private opened(of: Node, parenthesis: string): string {
    const before = this.left(of);
    if (!this.isOpen(of)) return before;
    return /[ (*]$/.test(before) ? before + parenthesis : `${before} ${parenthesis}`;
  }

  private memberPointer({ of, owner }: Node & { kind: 'member-pointer' }): string {
    const before = this.opened(of, '(');
    return `${before}${before.endsWith('(') ? '' : ' '}${this.whole(owner)}::*`;
  }

  /** The return type before a function, which a function it points to surrounds. */
  private returned(type: Node): string {
    const before = this.left(type);
    return this.right(type) === '' ? `${before} ` : before;
  }

  /** Prints a part of an encoding, in which template parameters are those of its name. */
  private encoding({ name }: Node & { kind: 'encoding' }, print: () => string): string {
    const args = lastArgs(name);
    const isInLambda = this.isInLambda;
    this.isInLambda = false;
    const text = args ? this.within({ args, outer: this.scope }, this.item, print) : print();
    this.isInLambda = isInLambda;
    return text;
  }

  private beforeParams({ name, returns, params, suffix }: Node & { kind: 'encoding' }): string {
    return `${returns ? this.returned(returns) : ''}${this.whole(name)}(${this.joined(params)})${suffix}`;
  }

  private lambda({ params, number }: Node & { kind: 'lambda' }): string {
    const outer = this.isInLambda;
    this.isInLambda = true;
    const text = `{lambda(${this.joined(params)})#${number}}`;
    this.isInLambda = outer;
    return text;
  }

  private template(name: string, args: readonly Node[]): string {
    const inside = this.joined(args);
    return `${name}${name.endsWith('<') ? ' ' : ''}<${inside}${inside.endsWith('>') ? ' ' : ''}>`;
  }

  private joined(nodes: readonly Node[]): string {
    return nodes
      .map((node) => this.whole(node))
      .filter((word) => word !== '')
      .join(', ');
  }

  private expanded(of: Node): string {
    const count = this.packSize(of);
    if (count === undefined) return `${this.whole(of)}...`;
    const items = Array.from({ length: count }, (_, item) => this.within(this.scope, item, () => this.whole(of)));
    return items.filter((word) => word !== '').join(', ');
  }

  /** The number of items of the first pack in a pattern; undefined without one. */
  private packSize(node: Node): number | undefined {
    if (++this.steps > maxLength) throw new NotPrintable();
    const { node: target } = node.kind === 'param' ? this.resolved(node) : { node };
    if (target.kind === 'pack') return target.items.length;
    if (target !== node) return undefined;
    for (const child of childrenOf(node)) {
      const size = this.packSize(child);
      if (size !== undefined) return size;
    }
    return undefined;
  }
}

const isReference = (node: Node): node is Node & { kind: 'pointer'; mark: '&' | '&&' } => node.kind === 'pointer' && node.mark !== '*';
