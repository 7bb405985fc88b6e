/** Appends instructions to a block: one method per op, typed from the op table. */
import type { Span } from '../base/source.ts';
import type { Block, Inst, Kernel, Value } from './kernel.ts';
import { argsOf, attrsOf } from './operands.ts';
import { type Op, opNames, type ops, specOf, type TypeRule } from './ops.ts';
import { bitsOf, type Type } from './types.ts';

type Row<K extends Op> = (typeof ops)[K];
type Operands<K extends Op> = { [A in keyof Row<K>['args']]: Value };
type TupleOf<N, T extends unknown[] = []> = N extends readonly [unknown, ...infer R] ? TupleOf<R, [...T, Value]> : T;
type Keys<T> = keyof T extends never ? [] : UnionTuple<keyof T>;
type UnionTuple<U, L = Last<U>> = [U] extends [never] ? [] : [...UnionTuple<Exclude<U, L>>, L];
type Last<U> = (U extends unknown ? (x: () => U) => void : never) extends (x: infer F) => void
  ? F extends () => infer L
    ? L
    : never
  : never;
type Given<K extends Op> = Row<K>['type'] extends 'given' ? [type: Type] : [];
type AttrArg<K extends Op> = Row<K> extends { attrs: infer A } ? [attrs: { -readonly [P in keyof A]: A[P] }] : [];

/** `b.add(x, y)`, `b.trunc('i32', x)`, `b.icmp(x, y, { pred: 'eq' })`, `b.load('f32', p, { align: 4, volatile: false })`. */
export type Emitters = {
  [K in Exclude<Op, 'arg' | 'const'>]: (...x: [...Given<K>, ...TupleOf<Keys<Operands<K>>>, ...AttrArg<K>]) => Value;
};

export interface Builder extends Emitters {
  readonly kernel: Kernel;
  /** The block that is appended to. */
  block: Block;
  /** The place in the source of appended instructions. */
  loc: Span | undefined;
  /** A constant by value; integers wrap to the width, for floats `bits` are the type's bits. */
  const(type: Type, bits: bigint | number): Value;
  /** The type of a value made before. */
  typeOf(value: Value): Type;
}

/** A builder that appends to `block` of `kernel`. Passes make one for each block, so that a method is made when it is asked for. */
export function builder(kernel: Kernel, block: Block): Builder {
  const self = Object.create(methods) as Builder & { self: Builder };
  Object.assign(self, {
    self,
    kernel,
    block,
    loc: undefined as Span | undefined,
    typeOf: (value: Value): Type => kernel.insts[value]!.type,
    const: (type: Type, bits: bigint | number) =>
      append(self, { op: 'const', type, bits: BigInt.asUintN(Math.max(1, bitsOf(type)), BigInt(bits)) } as Inst),
  });
  return self;
}

const own = (of: object, name: string, value: unknown): void =>
  void Object.defineProperty(of, name, { value, writable: true, enumerable: true, configurable: true });

/** The ops that have methods of their name alone. */
const given = opNames.filter((op) => op !== 'arg' && op !== 'const');

/** By op: the method of a builder, which stays in it and works without it as `this`. */
const methods: object = Object.defineProperties(
  {},
  Object.fromEntries(
    given.map((op) => [
      op,
      {
        get(this: { readonly self: Builder }): unknown {
          const { self } = this;
          const method = (...x: unknown[]): Value => emit(self, op, x);
          own(self, op, method);
          return method;
        },
        set(this: object, method: unknown): void {
          own(this, op, method);
        },
      },
    ]),
  ),
);

/** Each op's operands, attributes and type rule, looked up once in the table. */
const shapes = Object.fromEntries(
  opNames.map((op) => [op, { args: argsOf(op), attrs: attrsOf(op), rule: specOf(op).type }]),
) as unknown as Record<Op, { args: readonly string[]; attrs: readonly string[]; rule: TypeRule }>;

function emit(self: Builder, op: Op, x: unknown[]): Value {
  const { args, attrs, rule } = shapes[op];
  const inst: Record<string, unknown> = { op, type: 'void' };
  let at = rule === 'given' ? 1 : 0;
  for (let i = 0; i < args.length; i++) inst[args[i]!] = x[at++];
  if (attrs.length > 0) {
    const given = x[at] as Record<string, unknown> | undefined;
    for (const name of attrs) inst[name] = given?.[name];
  }
  if (rule === 'given') inst.type = x[0];
  else if (rule === 'a' || rule === 'b') inst.type = self.kernel.insts[inst[rule] as number]?.type ?? 'void';
  else inst.type = rule;
  return append(self, inst as unknown as Inst);
}

function append(self: Builder, inst: Inst): Value {
  const value = addInst(self.kernel, inst, self.loc);
  self.block.body.push(value);
  return value;
}

/** Adds an instruction to the kernel's list without placing it in a block. */
export function addInst(kernel: Kernel, inst: Inst, loc?: Span): Value {
  kernel.locs.push(loc);
  return (kernel.insts.push(inst) - 1) as Value;
}

/** Adds a parameter to a block. */
export function addBlockParam(kernel: Kernel, block: Block, type: Type): Value {
  const value = addInst(kernel, { op: 'arg', type });
  block.params.push(value);
  return value;
}

/** Adds an empty block, to be ended by the caller. */
export function addBlock(kernel: Kernel, label?: string): Block {
  const block: Block = { id: kernel.blocks.length, params: [], body: [], end: { op: 'ret' }, ...(label === undefined ? {} : { label }) };
  kernel.blocks.push(block);
  return block;
}

/** Moves the instructions of a block from an index on, and its terminator, to a new block; the caller terminates the first. */
export function splitBlock(kernel: Kernel, block: Block, from: number): Block {
  const rest = addBlock(kernel);
  rest.body = block.body.splice(from);
  rest.end = block.end;
  rest.endLoc = block.endLoc;
  return rest;
}

/** A kernel without blocks. */
export function emptyKernel(name: string): Kernel {
  return { name, params: [], variables: [], blocks: [], insts: [], locs: [], maxThreads: undefined, requiredThreads: undefined };
}
