/** The text of identities as patterns: `select c (select c x y) z` is an op of a value, of another op and of a value. */
import { bug } from '../../base/bug.ts';
import { addTo } from '../../base/group.ts';
import { argsOf } from '../operands.ts';
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
      /** The operands that these are, by name. */
      readonly names: readonly string[];
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
    return { kind: 'op', op, pred, args, names: argsOf(op), name };
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

let identitiesByOp: Map<string, Identity[]> | undefined;

/** The identities of an op, in the order of the table. */
function identitiesOf(op: string): readonly Identity[] {
  if (!identitiesByOp) {
    identitiesByOp = new Map();
    for (const identity of identities) addTo(identitiesByOp, /^\w+/.exec(identity[0])![0], identity);
  }
  return identitiesByOp.get(op) ?? [];
}

/** The rules of an op, and those of them that may fit operands of two ops. */
export interface OpRules {
  readonly all: readonly Rule[];
  /** The operands of the op. */
  readonly names: readonly string[];
  readonly byOperands: Map<Op, Map<Op | undefined, readonly Rule[]>>;
}

const rulesByOp = new Map<Op, OpRules>();

/** Parsed on first use: a kernel has few of the ops. */
export function rulesFor(op: Op): OpRules {
  let found = rulesByOp.get(op);
  if (!found) {
    found = { all: identitiesOf(op).flatMap(rulesOf), names: argsOf(op), byOperands: new Map() };
    rulesByOp.set(op, found);
  }
  return found;
}

/** The rules of an op whose first operands may be of these ops, in the order of the table. Most rules are out by them. */
export function rulesOfOperands({ all, byOperands }: OpRules, first: Op, second: Op | undefined): readonly Rule[] {
  let bySecond = byOperands.get(first);
  if (!bySecond) {
    bySecond = new Map();
    byOperands.set(first, bySecond);
  }
  let rules = bySecond.get(second);
  if (!rules) {
    rules = all.filter(({ from: { args } }) => mayBe(args[0]!, first) && (args[1] === undefined || mayBe(args[1], second)));
    bySecond.set(second, rules);
  }
  return rules;
}

/** Whether a value of an op may match a pattern. */
export const mayBe = (pattern: Pattern, op: Op | undefined): boolean =>
  pattern.kind === 'value' || op === (pattern.kind === 'constant' ? 'const' : pattern.op);

/** The rules of one identity, for a proof. */
export { rulesOf };
