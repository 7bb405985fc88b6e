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
  [K in Exclude<Op, 'arg' | 'const'>]: (this: Builder, ...x: [...Given<K>, ...TupleOf<Keys<Operands<K>>>, ...AttrArg<K>]) => Value;
};

export interface Builder extends Emitters {
  readonly at: InsertPoint;
  readonly kernel: Kernel;
  /** The block that is appended to. */
  block: Block;
  /** The place in the source of appended instructions. */
  loc: Span | undefined;
  /** A constant by value; integers wrap to the width, for floats `bits` are the type's bits. */
  const(this: Builder, type: Type, bits: bigint | number): Value;
  /** The type of a value made before. */
  typeOf(this: Builder, value: Value): Type;
}

/** Where instructions are appended, and which place in the source they have. Builders with operations of their own share it. */
export interface InsertPoint {
  readonly kernel: Kernel;
  block: Block;
  loc: Span | undefined;
  /** The constants of the block that were made, where each is made once in it. */
  readonly constants?: KnownConstants;
}

/** The constants that a block has. */
export class KnownConstants {
  #block: Block | undefined;
  readonly #known = new Map<Type, Map<bigint | number, Value>>();

  /** The constant of a type and bits in a block; undefined for one that `note` has not named. */
  find(block: Block, type: Type, bits: bigint | number): Value | undefined {
    // The maps stay: a kernel may have as many blocks as constants.
    if (block !== this.#block) for (const values of this.#known.values()) values.clear();
    this.#block = block;
    return this.#known.get(type)?.get(bits);
  }

  /** Notes a constant of the block that `find` was asked about. */
  note(type: Type, bits: bigint | number, value: Value): void {
    let values = this.#known.get(type);
    if (values === undefined) {
      values = new Map();
      this.#known.set(type, values);
    }
    values.set(bits, value);
  }
}

/**
 * The methods of builders, as a class: an engine compiles code that is given builders for objects with the same methods. Methods that were made for
 * each builder had it compile most of lowering again for each kernel.
 */
class InsertPointBuilder {
  readonly at: InsertPoint;

  constructor(at: InsertPoint) {
    this.at = at;
  }

  get kernel(): Kernel {
    return this.at.kernel;
  }

  get block(): Block {
    return this.at.block;
  }

  set block(block: Block) {
    this.at.block = block;
  }

  get loc(): Span | undefined {
    return this.at.loc;
  }

  set loc(loc: Span | undefined) {
    this.at.loc = loc;
  }

  typeOf(value: Value): Type {
    return this.at.kernel.insts[value]!.type;
  }

  const(type: Type, bits: bigint | number): Value {
    const { at } = this;
    const { constants } = at;
    // Rows give numbers, and sources large integers.
    const key = typeof bits === 'bigint' && bits >= 0n && bits <= Number.MAX_SAFE_INTEGER ? Number(bits) : bits;
    const known = constants?.find(at.block, type, key);
    if (known !== undefined) return known;
    const value = append(at, { op: 'const', type, bits: BigInt.asUintN(Math.max(1, bitsOf(type)), BigInt(bits)) } as Inst);
    constants?.note(type, key, value);
    return value;
  }
}

/** The class of builders, for those with further operations. */
export const BuilderBase = InsertPointBuilder as unknown as new (at: InsertPoint) => Builder;

/** A builder that appends to `block` of `kernel`. */
export const builder = (kernel: Kernel, block: Block): Builder => new BuilderBase({ kernel, block, loc: undefined });

/** The operands, attributes and type rule of an op. */
interface Shape {
  readonly args: readonly string[];
  readonly attrs: readonly string[];
  readonly rule: TypeRule;
}

type Method = (this: InsertPointBuilder, ...x: never[]) => Value;

/** The method of an op. Those of the usual shapes make their instruction in one step. */
function methodOf(op: Op): Method {
  const shape: Shape = { args: argsOf(op), attrs: attrsOf(op), rule: specOf(op).type };
  const { rule } = shape;
  const form = [...shape.args, ...shape.attrs].join();
  if (form === 'a' && rule === 'a') return unary(op);
  if (form === 'a,b' && rule === 'a') return binary(op);
  if (form === 'a' && rule === 'given') return cast(op);
  return function (this: InsertPointBuilder, ...x: unknown[]): Value {
    return append(this.at, instOf(this.at.kernel, op, shape, x));
  };
}

const unary = (op: Op): Method =>
  function (this: InsertPointBuilder, a: Value): Value {
    return append(this.at, { op, type: typeIn(this.at, a), a } as Inst);
  };

const binary = (op: Op): Method =>
  function (this: InsertPointBuilder, a: Value, b: Value): Value {
    return append(this.at, { op, type: typeIn(this.at, a), a, b } as Inst);
  };

const cast = (op: Op): Method =>
  function (this: InsertPointBuilder, type: Type, a: Value): Value {
    return append(this.at, { op, type, a } as Inst);
  };

const typeIn = ({ kernel }: InsertPoint, value: Value): Type => kernel.insts[value]?.type ?? 'void';

function instOf({ insts }: Kernel, op: Op, { args, attrs, rule }: Shape, x: readonly unknown[]): Inst {
  const inst: Record<string, unknown> = { op, type: 'void' };
  let at = rule === 'given' ? 1 : 0;
  for (let i = 0; i < args.length; i++) inst[args[i]!] = x[at++];
  if (attrs.length > 0) {
    const given = x[at] as Record<string, unknown> | undefined;
    for (const name of attrs) inst[name] = given?.[name];
  }
  if (rule === 'given') inst.type = x[0];
  else if (rule === 'a' || rule === 'b') inst.type = insts[inst[rule] as number]?.type ?? 'void';
  else inst.type = rule;
  return inst as unknown as Inst;
}

for (const op of opNames) {
  if (op !== 'arg' && op !== 'const') Object.defineProperty(InsertPointBuilder.prototype, op, { value: methodOf(op), writable: true });
}

function append({ kernel, block, loc }: InsertPoint, inst: Inst): Value {
  const value = addInst(kernel, inst, loc);
  block.body.push(value);
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
