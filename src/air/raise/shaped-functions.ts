/**
 * Functions that are only raised and not elementwise: on whole vectors, on structs, with pointers.
 * Source: Metal Shading Language Specification 4, sections 6.4 (relational), 6.5 (math), 6.6 (matrix and geometric functions), 6.14 (pack);
 * LLVM 14 Language Reference.
 */
import type { InstructionOf, Value as LlvmValue } from '../../bitcode/model.ts';
import { type Type as LlvmType, types as llvm, spell } from '../../bitcode/types.ts';
import { type Builder, isScalar, type ScalarType, type Value } from '../../ir/index.ts';
import { overflowRows } from '../functions/integer.ts';
import { llvmScalar } from '../llvm-scalar.ts';
import { type Lanes, Refused } from '../types.ts';
import { loadLanes, storeLanes } from './memory.ts';
import { copyMemory, fillMemory } from './memory-functions.ts';
import { packedFormat, packLanes, unpackLanes } from './pack-functions.ts';
import type { RaiseState } from './state.ts';

export type Shaped = (state: RaiseState, call: InstructionOf<'call'>) => Lanes | undefined;

/** Computes the result from the scalars of the operands; the call's type must be one of those of the function. */
const of =
  (result: LlvmType, params: readonly LlvmType[], make: (b: Builder, args: readonly Lanes[]) => Lanes): Shaped =>
  (state, call) => {
    const { functionType } = call;
    if (functionType !== llvm.function(result, [...params])) refuseType(call);
    return make(
      state.b,
      call.args.map((arg) => (arg.kind === 'metadata' ? [] : state.lanes(arg))),
    );
  };

function refuseType({ callee, functionType }: InstructionOf<'call'>): never {
  throw new Refused(`the function \`${callee.kind === 'function' ? callee.name : ''}\` of type ${spell(functionType)}`);
}

interface Named {
  readonly of: LlvmType;
  readonly scalar: ScalarType;
  readonly count: number;
}

/** Parses a type suffix such as `v4f32` or `i32`. */
function typeNamed(word: string): Named | undefined {
  const [, count, name = ''] = /^(?:v(\d{1,2}))?((?:i|f|bf)\d+)$/.exec(word) ?? [];
  if (!isScalar(name)) return undefined;
  const scalar = llvmScalar[name];
  return { of: count ? llvm.vector(scalar, Number(count)) : scalar, scalar: name, count: Number(count ?? 1) };
}

/** Functions named by a stem and a type suffix. */
const typed: Readonly<Record<string, (type: Named) => Shaped | undefined>> = {
  'air.dot': ({ of: type, scalar }) => of(llvmScalar[scalar], [type, type], (b, [x, y]) => [dot(b, x!, y!)]),
  'air.any': ({ of: type, scalar }) =>
    scalar === 'i1' ? of(llvm.i1, [type], (b, [x]) => [x!.reduce((all, one) => b.or(all, one))]) : undefined,
  'air.all': ({ of: type, scalar }) =>
    scalar === 'i1' ? of(llvm.i1, [type], (b, [x]) => [x!.reduce((all, one) => b.and(all, one))]) : undefined,
  'air.sincos': ({ of: type }) => sincos(type),
  'air.fast_sincos': ({ of: type, scalar }) => (scalar === 'f32' ? sincos(type) : undefined),
  ...Object.fromEntries(
    Object.keys(overflowRows).map((name) => [
      `llvm.${name}.with.overflow`,
      ({ of: type, count }: Named) => (count === 1 ? withOverflow(name, type) : undefined),
    ]),
  ),
};

/** Products are summed in order, each rounded. */
const dot = (b: Builder, x: Lanes, y: Lanes): Value => x.map((one, i) => b.fmul(one, y[i]!)).reduce((sum, product) => b.fadd(sum, product));

const withOverflow = (name: string, type: LlvmType): Shaped =>
  of(llvm.struct([type, llvm.i1]), [type, type], (b, [x, y]) => [...overflowRows[name]!(b, x![0]!, y![0]!)]);

/** Returns the sine and stores the cosine through the second operand. */
const sincos =
  (type: LlvmType): Shaped =>
  (state, call) => {
    const { result, params } = call.functionType;
    const [, pointer] = params;
    if (result !== type || params.length !== 2 || params[0] !== type || pointer?.kind !== 'pointer' || pointer.pointee !== type)
      refuseType(call);
    const [angle, place] = [operandAt(call, 0), operandAt(call, 1)];
    const lanes = state.lanes(angle);
    storeLanes(state, { type, lanes: lanes.map((x) => state.b.fcos(x)), addr: state.scalar(place), align: 0, volatile: false });
    return lanes.map((x) => state.b.fsin(x));
  };

/** Whether the function constant of the operand's variable has a value. */
function isDefined({ b, place }: RaiseState, call: InstructionOf<'call'>): Value {
  let [variable] = call.args;
  while (variable?.kind === 'constant' && (variable.form === 'cast' || variable.form === 'gep'))
    variable = variable.form === 'cast' ? variable.value : variable.base;
  const defined = variable?.kind === 'global' ? place.isDefined(variable.name) : undefined;
  if (defined === undefined || call.functionType.result !== llvm.i1) refuseType(call);
  return b.const('i1', defined ? 1n : 0n);
}

/** Functions with exactly one name and type. */
const plain: Readonly<Record<string, Shaped>> = {
  'air.get_simdgroup_size.i16': of(llvm.i16, [], (b) => [b.const('i16', 32)]),
  'air.normalize_function_constant_predicate.i8': of(llvm.i8, [llvm.i8], (b, [x]) => [
    b.zext('i8', b.icmp(x![0]!, b.const('i8', 0), { pred: 'ne' })),
  ]),
  'air.is_function_constant_defined': (state, call) => [isDefined(state, call)],
};

/** Functions whose names match a pattern. */
const patterns: readonly (readonly [RegExp, (name: string, match: readonly string[]) => Shaped | undefined])[] = [
  [
    /^llvm\.mem(cpy|move)(?:\.inline)?\./,
    (_, [, form]) =>
      (state, call) =>
        void copyMemory(state, call, form === 'move'),
  ],
  [/^air\.load\.(?:device|system)_coherent\./, () => coherentLoad],
  [/^air\.store\.(?:device|system)_coherent\./, () => coherentStore],
  [/^llvm\.memset\./, () => (state, call) => void fillMemory(state, call)],
  [/^air\.(pack|unpack)\.([us]norm)(\d)x(8|16)\.(\w+)$/, (_, match) => packing(match)],
  [/^air\.(pack|unpack)\.([us]norm)\.rgb10a2\.(\w+)$/, (_, [, way, kind, type]) => packing(['', way!, kind!, '10', '2', type!])],
  [/^llvm\.vector\.reduce\.(add|mul|and|or|xor|[su](?:min|max)|fmin|fmax)\.v(\d+)(\w+)$/, (_, match) => reduction(match)],
];

/** An operand of a call without metadata operands. */
function operandAt(call: InstructionOf<'call'>, index: number): LlvmValue {
  const arg = call.args[index];
  return arg === undefined || arg.kind === 'metadata' ? refuseType(call) : arg;
}

const isPointerTo = (type: LlvmType | undefined, to: LlvmType): boolean => type?.kind === 'pointer' && type.pointee === to;

/** Device-coherent memory: the access is volatile. */
function coherentLoad(state: RaiseState, call: InstructionOf<'call'>): Lanes {
  const { result, params } = call.functionType;
  if (params.length !== 1 || !isPointerTo(params[0], result)) refuseType(call);
  return loadLanes(state, { type: result, addr: state.scalar(operandAt(call, 0)), align: 0, volatile: true });
}

function coherentStore(state: RaiseState, call: InstructionOf<'call'>): undefined {
  const { result, params } = call.functionType;
  if (result !== llvm.void || params.length !== 2 || !isPointerTo(params[1], params[0]!)) refuseType(call);
  const [value, place] = [operandAt(call, 0), operandAt(call, 1)];
  storeLanes(state, { type: value.type, lanes: state.lanes(value), addr: state.scalar(place), align: 0, volatile: true });
}

function packing([, way, kind, first, second, name]: readonly string[]): Shaped | undefined {
  const type = typeNamed(name!);
  const format = packedFormat(kind!, Number(first), Number(second));
  if (!type || !format || (type.scalar !== 'f32' && type.scalar !== 'f16') || type.count !== format.widths.length) return undefined;
  const word = llvmScalar[format.type];
  if (way === 'pack') return of(word, [type.of], (b, [x]) => [packLanes(b, format, x!)]);
  return of(type.of, [word], (b, [x]) => unpackLanes(b, format, x![0]!, type.scalar));
}

function reduction([, form, count, name]: readonly string[]): Shaped | undefined {
  const type = typeNamed(`v${count}${name}`);
  if (!type || type.scalar.startsWith('i') === form!.startsWith('f')) return undefined;
  const op = form as 'add';
  return of(llvmScalar[type.scalar], [type.of], (b, [x]) => [x!.reduce((all, one) => b[op](all, one))]);
}

/** The raising function for a name, if it is one of these. */
export function shapedFunctionOf(name: string): Shaped | undefined {
  if (Object.hasOwn(plain, name)) return plain[name];
  const at = name.lastIndexOf('.');
  const stem = name.slice(0, at);
  if (Object.hasOwn(typed, stem)) {
    const type = typeNamed(name.slice(at + 1));
    return type && typed[stem]!(type);
  }
  for (const [pattern, make] of patterns) {
    const match = pattern.exec(name);
    if (match) return make(name, match);
  }
  return undefined;
}

/** The spellings of their names, for the docs. */
export const shapedFunctions: readonly string[] = [
  ...Object.keys(typed).map((name) => `${name}.TYPE`),
  ...Object.keys(plain),
  'air.load.device_coherent.TYPE',
  'air.store.device_coherent.TYPE',
  'llvm.memcpy',
  'llvm.memmove',
  'llvm.memset',
  'air.pack.FORM.TYPE',
  'air.unpack.FORM.TYPE',
  'llvm.vector.reduce.OP.TYPE',
];
