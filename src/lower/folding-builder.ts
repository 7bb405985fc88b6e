/**
 * A builder that folds: an integer operation of constants is a constant, and one that leaves an operand as it is, is that operand. Rows say what an
 * instruction does for all operands, of which many are constants; each instruction that is not made is none for the passes.
 * Source: LLVM's `IRBuilder` with `ConstantFolder`.
 */
import {
  answerForZero,
  type Builder,
  BuilderBase,
  constantOf,
  evalOp,
  type InstOf,
  isInt,
  type Op,
  type Type,
  type Value,
} from '../ir/index.ts';

const binaries = ['and', 'or', 'xor', 'add', 'sub', 'mul', 'shl', 'lshr', 'ashr'] as const satisfies Op[];
const casts = ['zext', 'sext', 'trunc'] as const satisfies Op[];

type Methods = Readonly<Record<string, (this: Builder, ...x: unknown[]) => Value>>;
const plain = BuilderBase.prototype as unknown as Methods;

/** The result of an instruction of constants. */
function folded(ir: Builder, inst: object, operands: readonly bigint[], types: readonly Type[]): Value {
  const made = inst as InstOf<'add'>;
  return ir.const(made.type, evalOp(made, operands, types));
}

const binary = (op: (typeof binaries)[number]) =>
  function (this: Builder, a: Value, b: Value): Value {
    const y = constantOf(this.kernel, b);
    const type = this.typeOf(a);
    if (y === undefined || !isInt(type)) return plain[op]!.call(this, a, b);
    const x = constantOf(this.kernel, a);
    if (x !== undefined) return folded(this, { op, type, a, b }, [x, y], [type, type]);
    const answer = y === 0n ? answerForZero(op) : undefined;
    if (answer === 'a') return a;
    return answer === 'zero' ? b : plain[op]!.call(this, a, b);
  };

const cast = (op: (typeof casts)[number]) =>
  function (this: Builder, type: Type, a: Value): Value {
    const x = constantOf(this.kernel, a);
    return x === undefined ? plain[op]!.call(this, type, a) : folded(this, { op, type, a }, [x], [this.typeOf(a)]);
  };

/** The class of builders that fold. */
export class FoldingBuilder extends BuilderBase {}

const methods: Record<string, unknown> = {
  ...Object.fromEntries(binaries.map((op) => [op, binary(op)])),
  ...Object.fromEntries(casts.map((op) => [op, cast(op)])),
  icmp(this: Builder, a: Value, b: Value, attrs: Pick<InstOf<'icmp'>, 'pred'>): Value {
    const [x, y] = [constantOf(this.kernel, a), constantOf(this.kernel, b)];
    if (x === undefined || y === undefined) return plain.icmp!.call(this, a, b, attrs);
    return folded(this, { op: 'icmp', type: 'i1', a, b, ...attrs }, [x, y], [this.typeOf(a), this.typeOf(b)]);
  },
  select(this: Builder, cond: Value, a: Value, b: Value): Value {
    const chosen = constantOf(this.kernel, cond);
    if (chosen === undefined) return plain.select!.call(this, cond, a, b);
    return chosen === 0n ? b : a;
  },
};

for (const [name, value] of Object.entries(methods)) Object.defineProperty(FoldingBuilder.prototype, name, { value, writable: true });
