/** Proofs of the identities of `src/ir/passes/identities.ts`: each is applied to instructions of its form, and both sides are computed. */
import { knownBits } from '../../src/ir/analysis/known-bits.ts';
import { valueRanges } from '../../src/ir/analysis/value-range.ts';
import { addInst } from '../../src/ir/build.ts';
import {
  addBlock,
  emptyKernel,
  evalOp,
  type Inst,
  type InstOf,
  isEvaluableInst,
  isFloat,
  type Kernel,
  type Type,
  type Value,
} from '../../src/ir/index.ts';
import { argsOf, operandsOf } from '../../src/ir/operands.ts';
import { byRule } from '../../src/ir/passes/apply-identities.ts';
import { identities } from '../../src/ir/passes/identities.ts';
import { type Pattern, type Rule, rulesOf } from '../../src/ir/passes/identity-pattern.ts';
import { bitsOf } from '../../src/ir/types.ts';
import { checkInst } from '../../src/ir/verify/types.ts';
import { areSame } from './same-float.ts';

/** The source of what is chosen: numbers below a bound, and bits of a width. */
export interface Choice {
  below(count: number): number;
  bits(width: number): bigint;
}

const narrower: Readonly<Record<string, readonly Type[]>> = { i8: ['i1'], i16: ['i8', 'i1'], i32: ['i16', 'i8'], i64: ['i32', 'i16'] };
const wider: Readonly<Record<string, readonly Type[]>> = { i1: ['i8'], i8: ['i16', 'i32'], i16: ['i32'], i32: ['i64'] };

/** An instruction of a form, and the values that it is computed from. */
interface Form {
  readonly kernel: Kernel;
  readonly root: Value;
  readonly inputs: readonly Value[];
}

/** A kernel with instructions of the first side; undefined where no types fit. */
function formOf({ from }: Rule, result: Type, choose: Choice): Form | undefined {
  const kernel = emptyKernel('identity');
  const block = addBlock(kernel);
  const named = new Map<string, Value>();
  const inputs: Value[] = [];
  let isTyped = true;
  const place = (inst: Inst): Value => {
    const value = addInst(kernel, inst);
    block.body.push(value);
    return value;
  };
  const constant = (type: Type, bits: bigint): Value => place({ op: 'const', type, bits: BigInt.asUintN(bitsOf(type), bits) });
  /** A value of which some bits may be known to be 0. */
  const input = (type: Type): Value => {
    const value = place({ op: 'arg', type });
    inputs.push(value);
    if (isFloat(type) || choose.below(3) > 0) return value;
    return place({ op: 'and', type, a: value, b: constant(type, choose.bits(bitsOf(type)) >> BigInt(choose.below(bitsOf(type)))) });
  };
  const leaf = (pattern: Exclude<Pattern, { kind: 'op' }>, type: Type): Value => {
    const literal = pattern.kind === 'constant' ? pattern.bits : undefined;
    if (literal !== undefined) return constant(type, literal);
    const before = named.get(pattern.name);
    const value = before ?? (pattern.kind === 'value' ? input(type) : constant(type, choose.bits(bitsOf(type))));
    if (kernel.insts[value]!.type !== type) isTyped = false;
    named.set(pattern.name, value);
    return value;
  };
  const typeOfArgs = (op: string, type: Type): Type | undefined => {
    if (op === 'icmp') return (['i1', 'i8', 'i16', 'i32', 'i64'] as const)[choose.below(5)];
    const kinds = op === 'trunc' ? wider[type] : op === 'zext' || op === 'sext' ? narrower[type] : [type];
    return kinds?.[choose.below(kinds.length)];
  };
  function visit(pattern: Pattern, type: Type): Value {
    if (pattern.kind !== 'op') return leaf(pattern, type);
    const inner = typeOfArgs(pattern.op, type);
    if (inner === undefined) isTyped = false;
    const args = pattern.args.map((arg, i) => visit(arg, pattern.op === 'select' && i === 0 ? 'i1' : (inner ?? type)));
    const fields = Object.fromEntries(argsOf(pattern.op).map((name, i) => [name, args[i]!]));
    return place({ op: pattern.op, type, ...fields, ...(pattern.pred ? { pred: pattern.pred } : {}) } as unknown as Inst);
  }
  const root = visit(from, result);
  return isTyped ? { kernel, root, inputs } : undefined;
}

/** The bits of a value, from those of the inputs. */
function resultOf(kernel: Kernel, value: Value, inputs: ReadonlyMap<Value, bigint>): bigint {
  const given = inputs.get(value);
  if (given !== undefined) return given;
  return bitsOfInst(kernel, kernel.insts[value]!, inputs);
}

function bitsOfInst(kernel: Kernel, inst: Inst, inputs: ReadonlyMap<Value, bigint>): bigint {
  if (inst.op === 'const') return inst.bits;
  if (!isEvaluableInst(inst)) throw new Error(`the op ${inst.op} has no meaning here`);
  const operands = operandsOf(inst);
  return evalOp(
    inst as InstOf<'add'>,
    operands.map((operand) => resultOf(kernel, operand, inputs)),
    operands.map((operand) => kernel.insts[operand]!.type),
  );
}

export interface Proof {
  /** How often the identity was applied. */
  applied: number;
  /** The first case in which the sides differ. */
  fault?: string;
}

const resultTypes = (rule: Rule, widths: readonly Type[]): readonly Type[] => {
  if (rule.from.op === 'icmp') return ['i1'];
  return rule.from.op.startsWith('f') ? ['f32'] : widths;
};

/** Applies a rule to forms of it, each with several inputs, or with all of 16 bits together. */
function prove(rule: Rule, widths: readonly Type[], choose: Choice, forms: number, inputsOfEach: number, proof: Proof): void {
  for (let at = 0; at < forms && proof.fault === undefined; at++) {
    const types = resultTypes(rule, widths);
    const form = formOf(rule, types[at % types.length]!, choose);
    if (!form) continue;
    const { kernel, root, inputs } = form;
    const before = { ...kernel.insts[root]! } as Inst;
    const c = { kernel, body: [] as Value[], value: root, threadRanges: valueRanges(kernel) };
    const made = byRule(rule, before, c, knownBits(kernel), () => new Int32Array(kernel.insts.length));
    if (made === undefined) continue;
    proof.applied++;
    const placed = typeof made === 'number' ? [] : [addInst(kernel, made)];
    for (const value of [...c.body, ...placed])
      checkInst(kernel, value, (_, why) => {
        proof.fault ??= `${rule.identity[0]} => ${rule.identity[1]} of ${before.type}: ${why}`;
      });
    const total = inputs.reduce((sum, value) => sum + bitsOf(kernel.insts[value]!.type), 0);
    const isWhole = inputsOfEach === Number.POSITIVE_INFINITY && total <= 16;
    const turns = isWhole ? 2 ** total : Math.min(inputsOfEach, 4096);
    for (let turn = 0; turn < turns; turn++) {
      let rest = BigInt(turn);
      const given = new Map(
        inputs.map((value) => {
          const width = bitsOf(kernel.insts[value]!.type);
          const bits = isWhole ? BigInt.asUintN(width, rest) : choose.bits(width);
          rest >>= BigInt(width);
          return [value, bits];
        }),
      );
      const first = bitsOfInst(kernel, before, given);
      const second = typeof made === 'number' ? resultOf(kernel, made, given) : bitsOfInst(kernel, made, given);
      if (areSame(isFloat(before.type) ? before.type : undefined, first, second)) continue;
      proof.fault = `${rule.identity[0]} => ${rule.identity[1]} of ${before.type}: ${first.toString(16)} and ${second.toString(16)} for ${[...given.values()].map((bits) => bits.toString(16)).join(', ')}`;
      return;
    }
  }
}

/** By the text of each identity: how often it was applied, and where its sides differ. */
export function proofs(widths: readonly Type[], choose: Choice, forms: number, inputsOfEach: number): Map<string, Proof> {
  return new Map(
    identities.map((identity) => {
      const proof: Proof = { applied: 0 };
      const rules = rulesOf(identity);
      for (const rule of rules) prove(rule, widths, choose, Math.ceil(forms / rules.length), inputsOfEach, proof);
      return [`${identity[0]} => ${identity[1]}`, proof] as const;
    }),
  );
}

/** Bits that are often at an edge: few bits, runs of ones, bounds. */
export function edges(below: (count: number) => number): Choice {
  const word = (): bigint => (BigInt(below(2 ** 32)) << 32n) | BigInt(below(2 ** 32));
  return {
    below,
    bits(width) {
      const all = (1n << BigInt(width)) - 1n;
      const at = BigInt(below(width));
      switch (below(6)) {
        case 0:
          return BigInt(below(2)) * all;
        case 1:
          return 1n << at;
        case 2:
          return (1n << at) - 1n;
        case 3:
          return all & ~((1n << at) - 1n);
        case 4:
          return BigInt.asUintN(width, at);
        default:
          return word() & all;
      }
    },
  };
}
