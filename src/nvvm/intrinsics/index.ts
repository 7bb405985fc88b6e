/** Calls of LLVM's intrinsics. A name is that of the intrinsic and, behind a dot, the types that it is for. */
import type { BinaryOpcode, InstructionOf, Type, Value } from '../../bitcode/index.ts';
import { spell } from '../../bitcode/index.ts';
import { refuse } from '../refused.ts';
import { mapElements } from '../select/aggregates.ts';
import { fastMath, floatBinary, floatOperation } from '../select/floats.ts';
import { integerBinary } from '../select/integers.ts';
import { registersOf } from '../select/memory.ts';
import { emit, type FunctionState, into } from '../state.ts';
import { operand, partsFor, registersFor } from '../values.ts';
import { floatIntrinsics, isInClass } from './floats.ts';
import { integerIntrinsics, withOverflow } from './integers.ts';
import { nvvmTemplate } from './nvvm.ts';
import { copyMemory, fillMemory } from './transfers.ts';

type Call = InstructionOf<'call'>;
type Intrinsic = (s: FunctionState, inst: Call, args: readonly Value[]) => readonly string[];

const none: readonly string[] = [];
const ignored: Intrinsic = () => none;
const first: Intrinsic = (s, _, [value]) => partsFor(s, value!);

const overflowing =
  (opcode: BinaryOpcode, isSigned: boolean): Intrinsic =>
  (s, _, [a, b]) => {
    const { type } = a!;
    if (type.kind !== 'int' || type.bits > 64 || type.bits < 2) return refuse(`${opcode} with overflow of ${spell(type)}`);
    const { result, overflows } = withOverflow(s, opcode, isSigned, type.bits, operand(s, a!), operand(s, b!));
    return [result, overflows];
  };

const instruction =
  (text: string): Intrinsic =>
  (s) => {
    emit(s, text);
    return none;
  };

/** Intrinsics that are more than a computation on each element. */
const others: Readonly<Record<string, Intrinsic>> = {
  'llvm.lifetime.start': ignored,
  'llvm.lifetime.end': ignored,
  'llvm.invariant.start': ignored,
  'llvm.invariant.end': ignored,
  'llvm.assume': ignored,
  'llvm.donothing': ignored,
  'llvm.sideeffect': ignored,
  'llvm.prefetch': ignored,
  'llvm.experimental.noalias.scope.decl': ignored,
  'llvm.var.annotation': ignored,
  'llvm.dbg': ignored,
  'llvm.expect': first,
  'llvm.ssa.copy': first,
  'llvm.arithmetic.fence': first,
  'llvm.launder.invariant.group': first,
  'llvm.ptr.annotation': first,
  'llvm.trap': instruction('trap'),
  'llvm.ubsantrap': instruction('trap'),
  'llvm.debugtrap': instruction('brkpt'),
  'llvm.memcpy': transfer((s, inst) => copyMemory(s, inst, false)),
  'llvm.memmove': transfer((s, inst) => copyMemory(s, inst, true)),
  'llvm.memset': transfer(fillMemory),
  'llvm.ptrmask': (s, _, [pointer, mask]) => [into(s, 'rd', 'and.b64', operand(s, pointer!), operand(s, mask!))],
  'llvm.stacksave': (s) => [into(s, 'rd', 'stacksave.u64')],
  'llvm.stackrestore': (s, _, [saved]) => {
    emit(s, `stackrestore.u64 ${operand(s, saved!)}`);
    return none;
  },
  'llvm.readcyclecounter': (s) => [into(s, 'rd', 'mov.u64', '%clock64')],
  'llvm.sadd.with.overflow': overflowing('add', true),
  'llvm.uadd.with.overflow': overflowing('add', false),
  'llvm.ssub.with.overflow': overflowing('sub', true),
  'llvm.usub.with.overflow': overflowing('sub', false),
  'llvm.smul.with.overflow': overflowing('mul', true),
  'llvm.umul.with.overflow': overflowing('mul', false),
  'llvm.is.fpclass': (s, _, [value, mask]) => {
    const element = scalarOf(value!.type);
    if (element.kind !== 'float' || mask!.kind !== 'constant' || mask!.form !== 'int') return refuse('llvm.is.fpclass');
    const bits = Number(mask!.value);
    return mapElements(s, [value!], ([x]) => isInClass(s, element.name, bits, x!));
  },
};

function transfer(make: (s: FunctionState, inst: Call) => void): Intrinsic {
  return (s, inst) => {
    make(s, inst);
    return none;
  };
}

const scalarOf = (type: Type): Type => (type.kind === 'vector' ? type.element : type);

/** The entry of a table whose name is that of the intrinsic without its types. */
function entryOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  for (let end = name.length; end > 0; end = name.lastIndexOf('.', end - 1)) {
    const key = name.slice(0, end);
    if (Object.hasOwn(table, key)) return table[key];
  }
  return undefined;
}

/** A call of an intrinsic. */
export function selectIntrinsic(s: FunctionState, inst: Call, name: string): readonly string[] {
  const args = inst.args.filter((arg): arg is Value => arg.kind !== 'metadata');
  if (name.startsWith('llvm.nvvm.')) return selectNvvm(s, inst, name.slice('llvm.nvvm.'.length), args);
  const other = entryOf(others, name);
  if (other) return other(s, inst, args);
  if (name.startsWith('llvm.vector.reduce.')) return [reduced(s, inst, name.slice('llvm.vector.reduce.'.length).split('.')[0]!, args)];
  const element = scalarOf(inst.type);
  const onFloats = entryOf(floatIntrinsics, name);
  if (onFloats && element.kind === 'float') return mapElements(s, args, (operands) => onFloats(s, element.name, operands, inst.flags));
  const onIntegers = entryOf(integerIntrinsics, name);
  if (onIntegers && element.kind === 'int' && element.bits <= 64)
    return onElements(s, args, (operands) => onIntegers(s, element.bits, operands));
  return refuse(`the intrinsic ${name}`);
}

/** Elements of the operands of the first one's type; a last operand of one part is for all, as in `ctlz`. */
function onElements(s: FunctionState, args: readonly Value[], compute: (operands: readonly string[]) => string): string[] {
  return mapElements(
    s,
    args.filter(({ type }) => type === args[0]!.type),
    compute,
  );
}

/** An instruction of the target. */
function selectNvvm(s: FunctionState, inst: Call, name: string, args: readonly Value[]): readonly string[] {
  if (name.startsWith('ldg.') || name.startsWith('ldu.')) return refuse(`the intrinsic llvm.nvvm.${name}`);
  const template = nvvmTemplate(name) ?? refuse(`the intrinsic llvm.nvvm.${name}`);
  const results = registersOf(s, inst.type);
  const texts = args.map((arg) => (isNumber(arg) ? operand(s, arg) : registersFor(s, arg).join(', ')));
  const filled = template.replace(
    /\$(d?)(\d)/g,
    (_, isResult: string, n: string) => (isResult ? results : texts)[Number(n)] ?? refuse(`llvm.nvvm.${name} with too few operands`),
  );
  emit(s, filled);
  return results;
}

/** Whether an operand is an integer that the instruction takes as a number. */
const isNumber = (value: Value): boolean => value.kind === 'constant' && value.form === 'int' && value.type.bits > 1;

const integerReductions: Readonly<Record<string, BinaryOpcode>> = { add: 'add', mul: 'mul', and: 'and', or: 'or', xor: 'xor' };
const extremes: ReadonlySet<string> = new Set(['smax', 'smin', 'umax', 'umin']);

/** A reduction of the elements of a vector, from the first to the last. */
function reduced(s: FunctionState, inst: Call, word: string, args: readonly Value[]): string {
  const vector = args[args.length - 1] ?? refuse('a reduction of nothing');
  const element = scalarOf(vector.type);
  const elements = [...(args.length > 1 ? partsFor(s, args[0]!) : []), ...partsFor(s, vector)];
  const combine = (a: string, b: string): string => {
    if (element.kind === 'int' && element.bits <= 64) {
      const opcode = integerReductions[word];
      if (opcode) return integerBinary(s, opcode, element.bits, a, b);
      if (extremes.has(word)) return integerIntrinsics[`llvm.${word}`]!(s, element.bits, [a, b]);
    }
    if (element.kind === 'float' && (word === 'fadd' || word === 'fmul'))
      return floatBinary(s, word, element.name, inst.flags & ~fastMath.contract, [a, b]);
    if (element.kind === 'float' && (word === 'fmax' || word === 'fmin')) return floatOperation(s, word.slice(1), element.name, [a, b]);
    return refuse(`a reduction by ${word} of ${spell(vector.type)}`);
  };
  return elements.reduce(combine);
}
