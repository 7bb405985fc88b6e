/** Calls of functions. Source: PTX ISA 9.0, 9.7.12.5 (`call`) and 7.1. */
import type { InstructionOf, Type, Value } from '../../bitcode/index.ts';
import { declareExtern } from '../externs.ts';
import { alignOf, partsOf } from '../layout.ts';
import { refuse } from '../refused.ts';
import { byValueOf, isKernel, parameterText, scalarType } from '../signatures.ts';
import { spaceNumbers } from '../spaces.ts';
import { classOf, emit, type FunctionState, into, newRegister, type Place } from '../state.ts';
import { genericAddress, nameOf, placeOf, registersFor } from '../values.ts';
import { resized } from './integers.ts';
import { loadParts, storeParts } from './memory.ts';

type Call = InstructionOf<'call'>;

const inParam = (base: string): Place => ({ base, offset: 0, space: spaceNumbers.param });

/** A call, direct or by address. */
export function selectCall(s: FunctionState, inst: Call): readonly string[] {
  const { callee, functionType } = inst;
  const fn = callee.kind === 'function' ? callee : undefined;
  if (fn && isKernel(fn)) return refuse(`a launch of the kernel ${fn.name} from a kernel`);
  if (functionType.vararg) return refuse(`a call of a variadic function${fn ? `, ${fn.name}` : ''}`);
  const target = fn ? nameOf(s.module, fn) : genericAddress(s, placeOf(s, callee));
  if (fn && fn.blocks.length === 0) declareExtern(s.module, fn);
  const args = inst.args.map((arg) => (arg.kind === 'metadata' ? refuse('an argument that is metadata') : arg));
  emitRaw(s, '{');
  const names = args.map((arg, i) => passArgument(s, inst, arg, i));
  const { result } = functionType;
  const hasResult = result.kind !== 'void';
  if (hasResult) emit(s, parameterText(result, 'retval0', false));
  const outcome = hasResult ? '(retval0), ' : '';
  const list = names.length > 0 ? `, (${names.join(', ')})` : '';
  if (fn) emit(s, `call.uni ${outcome}${target}${list}`);
  else {
    const prototype = `prototype_${s.next++}`;
    const params = args.map((arg, i) => parameterText(arg.type, '_', false, byValueOf(inst.attributes.params[i] ?? [])));
    s.text.push(`\t${prototype}: .callprototype ${hasResult ? `(${parameterText(result, '_', false)}) ` : ''}_ (${params.join(', ')});`);
    emit(s, `call ${outcome}${target}${list || ', ()'}, ${prototype}`);
  }
  const found = hasResult ? takeScalars(s, result, 'retval0') : [];
  emitRaw(s, '}');
  return found;
}

const emitRaw = (s: FunctionState, text: string): void => void s.text.push(`\t${text}`);

/** Declares a parameter of a call and stores the argument there. */
function passArgument(s: FunctionState, inst: Call, arg: Value, index: number): string {
  const name = `param${index}`;
  const byValue = byValueOf(inst.attributes.params[index] ?? []);
  emit(s, parameterText(arg.type, name, false, byValue));
  if (byValue) {
    const parts = loadParts(s, byValue.type, { at: placeOf(s, arg), align: byValue.align, order: '' });
    storeParts(s, byValue.type, parts, { at: inParam(name), align: byValue.align, order: '' });
    return name;
  }
  giveScalars(s, arg.type, registersFor(s, arg), name);
  return name;
}

/** Stores parts to a parameter. A scalar of less than 32 bits is extended. */
export function giveScalars(s: FunctionState, type: Type, registers: readonly string[], name: string): void {
  const scalar = scalarType(type, false);
  if (!scalar) return storeParts(s, type, registers, { at: inParam(name), align: alignOf(type), order: '' });
  emit(s, `st.param.${scalar} [${name}], ${widened(s, type, registers[0]!)}`);
}

function widened(s: FunctionState, type: Type, register: string): string {
  if (type.kind !== 'int' || type.bits > 16) return register;
  return type.bits === 1 ? into(s, 'r', 'selp.b32', 1, 0, register) : resized(s, register, type.bits, 32);
}

/** Loads parts from a parameter. */
export function takeScalars(s: FunctionState, type: Type, name: string): readonly string[] {
  const scalar = scalarType(type, false);
  if (!scalar) return loadParts(s, type, { at: inParam(name), align: alignOf(type), order: '' });
  const isNarrow = type.kind === 'int' && type.bits <= 16;
  const register = newRegister(s, isNarrow ? 'r' : classOf(partsOf(type)[0]!.part));
  emit(s, `ld.param.${scalar} ${register}, [${name}]`);
  if (!isNarrow) return [register];
  return [type.bits === 1 ? into(s, 'p', 'setp.ne.u32', into(s, 'r', 'and.b32', register, 1), 0) : resized(s, register, 32, type.bits)];
}
