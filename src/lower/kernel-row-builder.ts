/** The builder that the rows of a kernel emit into: a class, so that an engine compiles the code of rows once for all kernels (`src/ir/build.ts`). */
import {
  type Block,
  constantOf,
  type FloatRange,
  type FloatSpan,
  floatRange,
  floatSpan,
  type InsertPoint,
  type KnownBitsOf,
  knownBits,
  type Service,
  type Space,
  type Value,
} from '../ir/index.ts';
import type {
  AccessSpace,
  AddressOperand,
  BarrierWord,
  ExchangeCode,
  MatchedOperand,
  ProductExpansion,
  PureCode,
  ReadingCode,
  ReadingOperands,
  Register,
  RowBuilder,
} from '../ptx/index.ts';
import { askSpace, convertAddress, pointerTo } from './address.ts';
import { barrierWordOf } from './barrier-words.ts';
import { lowerClusterBarrier } from './cluster-barriers.ts';
import { clusterWord, lowerBlockBarrier } from './cluster-groups.ts';
import {
  type Context,
  lowerChoose,
  lowerEither,
  lowerPoll,
  lowerRepeat,
  lowerUpdate,
  lowerWhen,
  readRegister,
  writeRegister,
} from './context.ts';
import { lowerStop, placeOf } from './faults.ts';
import { FoldingBuilder } from './folding-builder.ts';
import { serviceParam } from './hidden-params.ts';
import { lowerGroupBarrier } from './named-barriers.ts';
import { readDestination } from './operands.ts';
import { hiddenVariable, threadMemory } from './passes/hidden-variables.ts';
import { callExchange, callPure, noteProduct } from './product-functions.ts';
import { callReading } from './reading-function.ts';
import { allocateOnStack, restoreStack } from './stack.ts';
import { stackTop } from './stack-memory.ts';

/** The flag `CC.CF`, which instructions name by `.cc` alone. Source: PTX ISA 9.0, 9.7.2. */
const conditionCode: Register = { name: 'CC.CF', declared: 'pred', type: 'i1' };

/** How the blocks of a cluster run: by turns, on one thread of the host, or as one block of the device. */
export type Clusters = 'turns' | 'groups';

/** What rows know of the target and the options. */
export interface RowChoices {
  readonly isMmaFast: boolean;
  readonly isForCpu: boolean;
  readonly hasMma: boolean;
  /** Whether functions compute products of matrices. */
  readonly hasProductFunctions: boolean;
  /** Whether functions read memory. */
  readonly hasReadingFunctions: boolean;
  readonly clusters: Clusters;
}

/** Notes the product of a form, for the functions of the kernel. */
function productFunction(this: KernelRowBuilder, form: string, expand: ProductExpansion): void {
  noteProduct(this.kernel, form, expand);
}

/** Calls a function that reads memory. */
function readingFunction(this: KernelRowBuilder, name: string, operands: ReadingOperands, code: ReadingCode): Value {
  return callReading(this.kernel, this.c.ir, name, operands, code);
}

/** Calls a function without effects. */
function pureFunction(this: KernelRowBuilder, name: string, operands: readonly Value[], code: PureCode, gives?: 'flushed'): Value {
  return callPure(this.kernel, this.c.ir, name, operands, code, gives);
}

/** Calls a function in which lanes exchange values. */
function exchangeFunction(this: KernelRowBuilder, name: string, given: Value, code: ExchangeCode): Value {
  const lane = this.once('laneid', () => this.sreg('i32', { name: 'laneid' }));
  return callExchange(this.kernel, this.c.ir, name, [given, lane], code);
}

/** A barrier of the block, as the target has it for kernels with clusters. */
function barrier(this: KernelRowBuilder): Value {
  return lowerBlockBarrier(this.c);
}

/** Whether a generic address is of a space. */
function isspace(this: KernelRowBuilder, a: Value, { space }: { readonly space: Space | 'shared::cluster' }): Value {
  return askSpace(this.c, a, space);
}

/** The builder of the rows of a kernel. */
export class KernelRowBuilder extends FoldingBuilder implements RowBuilder {
  /** The context of the kernel, which has this builder. */
  c!: Context;
  /** Of the instruction at hand. */
  lanes: number | undefined = undefined;
  operands: readonly MatchedOperand[] = [];
  readonly isMmaFast: boolean;
  readonly isForCpu: boolean;
  readonly hasMma: boolean;
  readonly clustersTakeTurns: boolean;
  readonly productFunction: RowBuilder['productFunction'];
  readonly readingFunction: RowBuilder['readingFunction'];
  readonly pureFunction: RowBuilder['pureFunction'];
  readonly exchangeFunction: RowBuilder['exchangeFunction'];
  readonly barrierWord: BarrierWord;
  override readonly barrier = barrier as RowBuilder['barrier'];
  override readonly isspace = isspace as RowBuilder['isspace'];
  /** The block that the kernel starts with, and the values in it by their keys. */
  readonly #start: Block;
  readonly #once = new Map<string, Value>();
  /** One analysis of the kernel: rows add instructions and change none. */
  #knownBits: KnownBitsOf | undefined;

  constructor(at: InsertPoint, { isMmaFast, isForCpu, hasMma, clusters, hasProductFunctions, hasReadingFunctions }: RowChoices) {
    super(at);
    this.isMmaFast = isMmaFast;
    this.isForCpu = isForCpu;
    this.hasMma = hasMma;
    this.clustersTakeTurns = clusters === 'turns';
    this.productFunction = hasProductFunctions ? productFunction : undefined;
    this.readingFunction = hasReadingFunctions ? readingFunction : undefined;
    this.pureFunction = hasProductFunctions ? pureFunction : undefined;
    this.exchangeFunction = hasProductFunctions ? exchangeFunction : undefined;
    this.barrierWord = barrierWordOf(() => this.c);
    this.#start = at.block;
  }

  constantOf(value: Value): bigint | undefined {
    return constantOf(this.kernel, value);
  }

  floatRange(value: Value): FloatRange {
    return floatRange(this.kernel, value);
  }

  floatSpan(value: Value): FloatSpan {
    return floatSpan(this.kernel, value);
  }

  knownZeros(value: Value): bigint {
    this.#knownBits ??= knownBits(this.kernel);
    return this.#knownBits(value).zeros;
  }

  part(operand: string): string | undefined {
    return this.operands.find(({ slot }) => slot.name === operand)?.part;
  }

  pointer(address: AddressOperand, space: AccessSpace): Value {
    return pointerTo(this.c, address, space);
  }

  convertAddress(a: Value, space: AccessSpace, to: 'generic' | 'space'): Value {
    return convertAddress(this.c, a, space, to);
  }

  when(condition: Value, body: () => void): void {
    lowerWhen(this.c, condition, body);
  }

  blockWord(): Value {
    return this.#shared('word');
  }

  tensorMemory(): Value {
    return this.#shared('tensor');
  }

  reservedShared(): Value {
    return this.#shared('reserved');
  }

  /** Shared memory without a name in the source. */
  #shared(what: 'word' | 'tensor' | 'reserved'): Value {
    return this.c.ir.variable('ptr.shared', { name: hiddenVariable(this.kernel, what).name });
  }

  alloca(size: Value, align: Value): Value {
    return allocateOnStack(this.c, size, align);
  }

  stackTop(): Value {
    return stackTop(this.c);
  }

  setStackTop(top: Value): void {
    restoreStack(this.c, top);
  }

  accumulators(): readonly Value[] {
    return readDestination(this.c, this.operands[0]!);
  }

  threadMemory(bytes: number): Value {
    return this.c.ir.variable('ptr.local', { name: threadMemory(this.kernel, bytes).name });
  }

  groupBarrier(): void {
    lowerGroupBarrier(this.c);
  }

  /** Something that the sanitizer finds at the line of the instruction: a fence, or a load of a barrier. */
  orderPoint(barrier?: Value): void {
    const { ir, isSanitized } = this.c;
    if (!isSanitized) return;
    if (barrier === undefined) ir.fence({ scope: 'block' });
    else ir.load('i64', barrier, { align: 8, volatile: true });
  }

  service(which: Service): Value {
    return this.ptrtoint('i64', this.param('ptr.global', { index: serviceParam(this.kernel, which) }));
  }

  clusterWord(at: number): Value {
    return clusterWord(this.c, at);
  }

  clusterBarrier(step: 'arrive' | 'wait'): void {
    lowerClusterBarrier(this.c, step);
  }

  update(pointer: Value, compute: (old: Value) => Value, type?: 'i32' | 'i64'): Value {
    return lowerUpdate(this.c, pointer, compute, type);
  }

  once(key: string, compute: () => Value): Value {
    const before = this.#once.get(key);
    if (before !== undefined) return before;
    const { block } = this;
    this.block = this.#start;
    const value = compute();
    this.block = block;
    this.#once.set(key, value);
    return value;
  }

  stop(why: string): void {
    lowerStop(this.c, `${why}${placeOf(this.c)}`);
  }

  either(condition: Value, yes: () => Value, no: () => Value): Value {
    return lowerEither(this.c, condition, yes, no);
  }

  choose(condition: Value, yes: () => readonly Value[], no: () => readonly Value[]): Value[] {
    return lowerChoose(this.c, condition, yes, no);
  }

  repeat(count: Value, first: readonly Value[], body: (i: Value, values: readonly Value[]) => readonly Value[]): Value[] {
    return lowerRepeat(this.c, count, first, body);
  }

  poll(tries: number, condition: () => Value): Value {
    return lowerPoll(this.c, tries, condition);
  }

  carry(): Value {
    return readRegister(this.c, conditionCode);
  }

  setCarry(carry: Value): void {
    writeRegister(this.c, conditionCode, carry);
  }

  adapt(): void {
    this.kernel.isAdapted = true;
  }

  needsCpu(reason: string): void {
    if (this.isForCpu) return;
    const { loc } = this;
    const where = { ...(loc ? { span: loc } : {}), label: reason, help: 'compile for the CPU device with `--target cpu`' };
    this.c.diagnostics.report('CM2001', { instruction: 'this instruction' }, where);
  }

  refuse(reason: string): undefined {
    const { loc } = this;
    this.c.diagnostics.report('CM2001', { instruction: 'this instruction' }, { ...(loc ? { span: loc } : {}), label: reason });
    return undefined;
  }
}
