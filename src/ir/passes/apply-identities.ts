/** Finds the identity that an instruction fits, and makes its second side. */
import type { KnownBitsOf } from '../analysis/known-bits.ts';
import { addInst } from '../build.ts';
import { constantOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { argsOf, eachOperand, terminatorOperands } from '../operands.ts';
import { bitsOf, type Type } from '../types.ts';
import type { Facts } from './identities.ts';
import { mayBe, type Pattern, type Rule, rulesFor, rulesOfOperands } from './identity-pattern.ts';
import { constant, placeConstant, type Rewrite, type RewriteContext } from './rewrite.ts';

/** The values and constants of a match, by name. */
interface Bindings {
  readonly values: Map<string, Value>;
  readonly constants: Record<string, bigint>;
  /** The inner instructions that the pattern has. */
  readonly inner: Value[];
}

/** What the identities make of an instruction. */
export function byIdentity(inst: Inst, c: RewriteContext, bits: KnownBitsOf, uses: () => Int32Array): Rewrite {
  const rules = rulesFor(inst.op);
  if (rules.all.length === 0) return undefined;
  const fields = inst as unknown as Record<string, Value>;
  const { insts } = c.kernel;
  const names = argsOf(inst.op);
  const second = names.length > 1 ? insts[fields[names[1]!]!]!.op : undefined;
  for (const rule of rulesOfOperands(rules, insts[fields[names[0]!]!]!.op, second)) {
    const made = byRule(rule, inst, c, bits, uses);
    if (made !== undefined) return made;
  }
  return undefined;
}

/** What one rule makes of an instruction. */
export function byRule(rule: Rule, inst: Inst, c: RewriteContext, bits: KnownBitsOf, uses: () => Int32Array): Rewrite {
  if (!mayFit(rule, inst, c.kernel)) return undefined;
  const found: Bindings = { values: new Map(), constants: {}, inner: [] };
  if (!fits(c.kernel, rule.from, inst, found)) return undefined;
  const made = holds(rule, inst, c.kernel, found, bits);
  if (made === undefined || !isWorth(rule, found, uses)) return undefined;
  return build(rule.to, inst, c, { ...found, constants: { ...found.constants, ...made } });
}

/** Whether the predicate and the ops of the operands are those of a rule. */
function mayFit({ from }: Rule, inst: Inst, kernel: Kernel): boolean {
  if (from.pred !== undefined && (inst as { pred?: string }).pred !== from.pred) return false;
  const fields = inst as unknown as Record<string, Value>;
  const names = argsOf(inst.op);
  for (let i = 0; i < from.args.length; i++) if (!mayBe(from.args[i]!, kernel.insts[fields[names[i]!]!]!.op)) return false;
  return true;
}

function fits(kernel: Kernel, { args, pred }: Extract<Pattern, { kind: 'op' }>, inst: Inst, found: Bindings): boolean {
  if (pred !== undefined && (inst as { pred?: string }).pred !== pred) return false;
  const fields = inst as unknown as Record<string, Value>;
  const names = argsOf(inst.op);
  return args.every((arg, i) => fitsValue(kernel, arg, fields[names[i]!]!, found));
}

function fitsValue(kernel: Kernel, pattern: Pattern, value: Value, found: Bindings): boolean {
  if (pattern.kind === 'value') {
    const before = found.values.get(pattern.name);
    if (before === undefined) found.values.set(pattern.name, value);
    return before === undefined || before === value;
  }
  const inst = kernel.insts[value]!;
  if (pattern.kind === 'constant') {
    const bits = constantOf(kernel, value);
    if (bits === undefined) return false;
    if (pattern.bits !== undefined) return BigInt.asUintN(bitsOf(inst.type), pattern.bits) === bits;
    const before = found.constants[pattern.name];
    found.constants[pattern.name] = bits;
    return before === undefined || before === bits;
  }
  if (inst.op !== pattern.op) return false;
  found.inner.push(value);
  if (pattern.name !== undefined) found.values.set(pattern.name, value);
  return fits(kernel, pattern, inst, found);
}

/** The constants of the second side; undefined where the identity does not hold. */
function holds(
  { identity: [, , when] }: Rule,
  inst: Inst,
  kernel: Kernel,
  { values, constants }: Bindings,
  bits: KnownBitsOf,
): Readonly<Record<string, bigint>> | undefined {
  if (!when) return {};
  const width = BigInt(bitsOf(inst.type));
  const matched = (name: string): Value => values.get(name)!;
  const facts: Facts = {
    of: constants,
    w: width,
    all: (1n << width) - 1n,
    zeros: (name) => bits(matched(name)).zeros,
    width: (name) => BigInt(bitsOf(kernel.insts[matched(name)]!.type)),
  };
  const made = when(facts);
  if (made === false) return undefined;
  return made === true ? {} : made;
}

/** Whether the second side has no more instructions than go: inner ones go where nothing else uses them. */
function isWorth({ extra }: Rule, { inner }: Bindings, uses: () => Int32Array): boolean {
  if (extra === 0) return true;
  const counts = uses();
  return inner.filter((value) => (counts[value] ?? 0) <= 1).length >= extra;
}

function build(pattern: Pattern, inst: Inst, c: RewriteContext, found: Bindings): Rewrite {
  if (pattern.kind === 'value') return found.values.get(pattern.name)!;
  if (pattern.kind === 'constant') return constant(inst.type, bitsFor(pattern, found));
  return instOf(pattern, inst.type, c, found);
}

const bitsFor = ({ bits, name }: Extract<Pattern, { kind: 'constant' }>, { constants }: Bindings): bigint => bits ?? constants[name]!;

function instOf({ op, pred, args }: Extract<Pattern, { kind: 'op' }>, type: Type, c: RewriteContext, found: Bindings): Inst {
  // Operands of a comparison have a type of their own, those of other ops that of the result, but for what is converted.
  const name = op === 'icmp' ? valueIn(args) : undefined;
  const own = name === undefined ? type : c.kernel.insts[found.values.get(name)!]!.type;
  const operands = args.map((arg): Value => {
    if (arg.kind === 'value') return found.values.get(arg.name)!;
    if (arg.kind === 'constant') return placeConstant(c, own, bitsFor(arg, found));
    const placed = addInst(c.kernel, instOf(arg, own, c, found), c.kernel.locs[c.value]);
    c.body.push(placed);
    return placed;
  });
  const fields = Object.fromEntries(argsOf(op).map((name, i) => [name, operands[i]!]));
  return { op, type, ...fields, ...(pred === undefined ? {} : { pred }) } as unknown as Inst;
}

/** The first value among operands, or in those of their ops, which have its type. */
function valueIn(args: readonly Pattern[]): string | undefined {
  for (const arg of args) {
    const name = arg.kind === 'value' ? arg.name : arg.kind === 'op' ? valueIn(arg.args) : undefined;
    if (name !== undefined) return name;
  }
  return undefined;
}

/** How often each value is used. */
export function usesOf(kernel: Kernel): Int32Array {
  const counts = new Int32Array(kernel.insts.length);
  for (const { body, end } of kernel.blocks) {
    for (const value of body) eachOperand(kernel.insts[value]!, (operand) => void counts[operand]!++);
    for (const operand of terminatorOperands(end)) counts[operand]!++;
  }
  return counts;
}
