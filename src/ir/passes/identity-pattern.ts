/** The text of identities as patterns: `select c (select c x y) z` is an op of a value, of another op and of a value. */
import { bug } from '../../base/bug.ts';
import type { IcmpPredicate, Op } from '../ops.ts';
import { type Identity, identities } from './identities.ts';
import { commutative } from './symmetry.ts';

export type Pattern =
  | { readonly kind: 'value'; readonly name: string }
  /** By name, or a number. */
  | { readonly kind: 'constant'; readonly name: string; readonly bits: bigint | undefined }
  | {
      readonly kind: 'op';
      readonly op: Op;
      readonly pred: IcmpPredicate | undefined;
      readonly args: readonly Pattern[];
      /** A name for the value itself. */
      readonly name: string | undefined;
    };

type OpPattern = Extract<Pattern, { kind: 'op' }>;

export interface Rule {
  readonly identity: Identity;
  readonly from: OpPattern;
  readonly to: Pattern;
  /** The instructions that the second side has beyond one. */
  readonly extra: number;
}

function parse(text: string): Pattern {
  const tokens = text.match(/[()]|[^\s()]+/g)!;
  let at = 0;
  const atom = (token: string): Pattern => {
    if (/^-?\d+$/.test(token)) return { kind: 'constant', name: token, bits: BigInt(token) };
    return /^[A-Z]$/.test(token) ? { kind: 'constant', name: token, bits: undefined } : { kind: 'value', name: token };
  };
  const op = (word: string, name: string | undefined): OpPattern => {
    const [op, pred] = word.split('.') as [Op, IcmpPredicate | undefined];
    const args: Pattern[] = [];
    while (at < tokens.length && tokens[at] !== ')') args.push(operand());
    return { kind: 'op', op, pred, args, name };
  };
  function operand(): Pattern {
    const token = tokens[at++]!;
    const name = /^(\w+)=$/.exec(token)?.[1];
    if (token !== '(' && name === undefined) return atom(token);
    if (name !== undefined) at++;
    const inner = op(tokens[at++]!, name);
    at++;
    return inner;
  }
  return tokens.length === 1 ? atom(tokens[at++]!) : op(tokens[at++]!, undefined);
}

/** A pattern with the operands of each commutative op in both orders; a constant is the second. */
function orders(pattern: Pattern): Pattern[] {
  if (pattern.kind !== 'op') return [pattern];
  const lists = pattern.args.reduce<Pattern[][]>((all, arg) => all.flatMap((list) => orders(arg).map((each) => [...list, each])), [[]]);
  const [a, b] = pattern.args;
  const isMoved = pattern.args.length > 1 && commutative.has(pattern.op) && a!.kind !== 'constant' && b!.kind !== 'constant';
  const both = isMoved ? lists.flatMap((list) => [list, [list[1]!, list[0]!, ...list.slice(2)]]) : lists;
  return both.map((args) => ({ ...pattern, args }));
}

const opsIn = (pattern: Pattern): number => (pattern.kind === 'op' ? pattern.args.reduce((sum, arg) => sum + opsIn(arg), 1) : 0);

function rulesOf(identity: Identity): Rule[] {
  const [from, to] = [parse(identity[0]), parse(identity[1])];
  return orders(from).map((each) => {
    if (each.kind !== 'op') return bug(`the identity ${identity[0]} has no op`);
    return { identity, from: each, to, extra: Math.max(0, opsIn(to) - 1) };
  });
}

let byOp: Map<string, Rule[]> | undefined;

/** The rules of an op, in the order of the table. */
export function rulesFor(op: string): readonly Rule[] {
  if (!byOp) {
    byOp = new Map();
    for (const rule of identities.flatMap(rulesOf)) byOp.set(rule.from.op, [...(byOp.get(rule.from.op) ?? []), rule]);
  }
  return byOp.get(op) ?? [];
}

/** The rules of one identity, for a proof. */
export { rulesOf };
