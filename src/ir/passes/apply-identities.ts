/** Finds the identity that an instruction fits, and makes its second side. */
import type { KnownBitsOf } from '../analysis/known-bits.ts';
import { addInst } from '../build.ts';
import type { Inst, Kernel, Value } from '../kernel.ts';
import { argsOf, eachOperand, terminatorOperands } from '../operands.ts';
import { bitsOf, type Type } from '../types.ts';
import type { Facts } from './identities.ts';
import { mayBe, type Pattern, type Rule, rulesFor, rulesOfOperands } from './identity-pattern.ts';
import { constant, placeConstant, type Rewrite, type RewriteContext } from './rewrite.ts';

const widths: readonly bigint[] = Array.from({ length: 257 }, (_, bits) => BigInt(bits));
const onesOf: readonly bigint[] = widths.map((bits) => (1n << bits) - 1n);

/** The values and constants of a match, by name. One object serves all: most rules are tried in vain. */
class Match implements Facts {
  of: Record<string, bigint> = {};
  /** The inner instructions that the pattern has. */
  readonly inner: Value[] = [];
  w = 0n;
  all = 0n;
  readonly #names: string[] = [];
  readonly #values: Value[] = [];
  #hasConstants = false;
  #insts: readonly Inst[] = [];
  #bits: KnownBitsOf | undefined;

  start({ insts }: Kernel, bits: KnownBitsOf): void {
    this.#insts = insts;
    this.#bits = bits;
    this.#names.length = 0;
    this.#values.length = 0;
    this.inner.length = 0;
    if (this.#hasConstants) this.of = {};
    this.#hasConstants = false;
  }

  /** The value of a name; undefined for one without. */
  value(name: string): Value | undefined {
    const at = this.#names.indexOf(name);
    return at < 0 ? undefined : this.#values[at];
  }

  bind(name: string, value: Value): void {
    this.#names.push(name);
    this.#values.push(value);
  }

  bindConstant(name: string, bits: bigint): void {
    this.#hasConstants = true;
    this.of[name] = bits;
  }

  /** Notes the result of which the facts are. */
  result({ type }: Inst): void {
    const bits = bitsOf(type);
    this.w = widths[bits]!;
    this.all = onesOf[bits]!;
  }

  // Conditions take them from the object.
  readonly open = (name: string): bigint => this.#bits!(this.value(name)!).open;
  readonly set = (name: string): bigint => this.#bits!(this.value(name)!).ones;
  readonly width = (name: string): bigint => widths[bitsOf(this.#insts[this.value(name)!]!.type)]!;
}

const match = new Match();

/** What the identities make of an instruction. */
export function byIdentity(inst: Inst, c: RewriteContext, bits: KnownBitsOf, uses: () => Int32Array): Rewrite {
  const rules = rulesFor(inst.op);
  if (rules.all.length === 0) return undefined;
  const fields = inst as unknown as Record<string, Value>;
  const { insts } = c.kernel;
  const { names } = rules;
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
  match.start(c.kernel, bits);
  if (!fits(c.kernel, rule.from, inst)) return undefined;
  match.result(inst);
  const made = rule.identity[2]?.(match) ?? true;
  if (made === false || !isWorth(rule, uses)) return undefined;
  if (made !== true) for (const name in made) match.bindConstant(name, made[name]!);
  return build(rule.to, inst, c);
}

/** Whether the predicate and the ops of the operands are those of a rule. */
function mayFit({ from }: Rule, inst: Inst, kernel: Kernel): boolean {
  if (from.pred !== undefined && (inst as { pred?: string }).pred !== from.pred) return false;
  const fields = inst as unknown as Record<string, Value>;
  const { args, names } = from;
  for (let i = 0; i < args.length; i++) if (!mayBe(args[i]!, kernel.insts[fields[names[i]!]!]!.op)) return false;
  return true;
}

function fits(kernel: Kernel, { args, names, pred }: Extract<Pattern, { kind: 'op' }>, inst: Inst): boolean {
  if (pred !== undefined && (inst as { pred?: string }).pred !== pred) return false;
  const fields = inst as unknown as Record<string, Value>;
  for (let i = 0; i < args.length; i++) if (!fitsValue(kernel, args[i]!, fields[names[i]!]!)) return false;
  return true;
}

function fitsValue(kernel: Kernel, pattern: Pattern, value: Value): boolean {
  if (pattern.kind === 'value') {
    const before = match.value(pattern.name);
    if (before === undefined) match.bind(pattern.name, value);
    return before === undefined || before === value;
  }
  const inst = kernel.insts[value]!;
  if (pattern.kind === 'constant') return fitsConstant(pattern, inst);
  if (inst.op !== pattern.op) return false;
  match.inner.push(value);
  if (pattern.name !== undefined) match.bind(pattern.name, value);
  return fits(kernel, pattern, inst);
}

function fitsConstant(pattern: Extract<Pattern, { kind: 'constant' }>, inst: Inst): boolean {
  if (inst.op !== 'const') return false;
  if (pattern.bits !== undefined) return (pattern.bits < 0n ? BigInt.asUintN(bitsOf(inst.type), pattern.bits) : pattern.bits) === inst.bits;
  const before = match.of[pattern.name];
  match.bindConstant(pattern.name, inst.bits);
  return before === undefined || before === inst.bits;
}

/** Whether the second side has no more instructions than go: inner ones go where nothing else uses them. */
function isWorth({ extra }: Rule, uses: () => Int32Array): boolean {
  if (extra === 0) return true;
  const counts = uses();
  return match.inner.filter((value) => (counts[value] ?? 0) <= 1).length >= extra;
}

function build(pattern: Pattern, inst: Inst, c: RewriteContext): Rewrite {
  if (pattern.kind === 'value') return match.value(pattern.name)!;
  if (pattern.kind === 'constant') return constant(inst.type, bitsFor(pattern));
  return instOf(pattern, inst.type, c);
}

const bitsFor = ({ bits, name }: Extract<Pattern, { kind: 'constant' }>): bigint => bits ?? match.of[name]!;

function instOf({ op, pred, args }: Extract<Pattern, { kind: 'op' }>, type: Type, c: RewriteContext): Inst {
  // Operands of a comparison have a type of their own, those of other ops that of the result, but for conditions and what is converted.
  const name = op === 'icmp' ? valueIn(args) : undefined;
  const own = name === undefined ? type : c.kernel.insts[match.value(name)!]!.type;
  const operands = args.map((arg, i): Value => {
    if (arg.kind === 'value') return match.value(arg.name)!;
    if (arg.kind === 'constant') return placeConstant(c, own, bitsFor(arg));
    const placed = addInst(c.kernel, instOf(arg, op === 'select' && i === 0 ? 'i1' : own, c), c.kernel.locs[c.value]);
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
  const use = (operand: Value): void => void counts[operand]!++;
  for (const { body, end } of kernel.blocks) {
    for (const value of body) eachOperand(kernel.insts[value]!, use);
    for (const operand of terminatorOperands(end)) counts[operand]!++;
  }
  return counts;
}
