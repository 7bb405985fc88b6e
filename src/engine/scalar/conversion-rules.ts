/** Scalar rules of conversions between integers, floats and addresses. */
import { bitsOf, type InstOf, type Type, type Value } from '../../ir/index.ts';
import {
  call,
  computedAs,
  type Emitter,
  isNarrow,
  isShort,
  mask,
  narrowFrom,
  pushFloat,
  pushPlain,
  pushSigned,
  typeOf,
} from '../codegen/emitter.ts';
import { reinterpretOf } from '../codegen/mnemonics.ts';
import { heldAs, integerHeldAs } from '../codegen/values.ts';

/** The low bits. */
export function truncate(e: Emitter, inst: InstOf<'trunc'>): void {
  e.values.push(inst.a);
  if (heldAs(inst.type) === 'i32' && heldAs(typeOf(e, inst.a)) === 'i64') e.code.op('i32.wrap_i64');
  mask(e, inst.type);
}

/** Widens the i32 on the stack to an i64, where the result is held in one. */
function widen(e: Emitter, inst: InstOf<'zext'> | InstOf<'sext'>, op: 'i64.extend_i32_s' | 'i64.extend_i32_u'): void {
  if (heldAs(inst.type) === 'i64' && heldAs(typeOf(e, inst.a)) === 'i32') e.code.op(op);
}

/** Zero extension; narrow integers are held zero-extended already. */
export function zeroExtend(e: Emitter, inst: InstOf<'zext'>): void {
  e.values.push(inst.a);
  widen(e, inst, 'i64.extend_i32_u');
}

/** Sign extension. */
export function signExtend(e: Emitter, inst: InstOf<'sext'>): void {
  pushSigned(e, inst.a);
  widen(e, inst, 'i64.extend_i32_s');
  mask(e, inst.type);
}

/** The same bits as another type. */
export function bitcast(e: Emitter, inst: InstOf<'bitcast'>): void {
  e.values.push(inst.a);
  const [from, to] = [heldAs(typeOf(e, inst.a)), heldAs(inst.type)];
  if (from !== to) e.code.op(reinterpretOf[from]);
}

/** Conversion to a wider float: exact. */
export function widenFloat(e: Emitter, inst: InstOf<'fpext'>): void {
  pushFloat(e, inst.a);
  if (inst.type === 'f64') e.code.op('f64.promote_f32');
}

/** Conversion to a narrower float: one rounding. */
export function narrowFloat(e: Emitter, inst: InstOf<'fptrunc'>): void {
  pushFloat(e, inst.a);
  if (inst.type === 'f32') e.code.op('f32.demote_f64');
  else narrowFrom(e, inst.type, computedAs(typeOf(e, inst.a)));
}

/** Float to integer, toward zero and saturating. WebAssembly saturates to 32 or 64 bits; narrower integers are clamped afterwards. */
export function floatToInt(e: Emitter, inst: InstOf<'fptosi'> | InstOf<'fptoui'>, isSigned: boolean): void {
  const held = integerHeldAs(inst.type);
  pushFloat(e, inst.a);
  e.code.op(`${held}.trunc_sat_${computedAs(typeOf(e, inst.a))}_${isSigned ? 's' : 'u'}`);
  if (!isNarrow(inst.type)) return;
  const half = 2 ** (bitsOf(inst.type) - 1);
  e.code.i32(isSigned ? half - 1 : 2 * half - 1);
  call(e, isSigned ? 'smin32' : 'umin32');
  if (!isSigned) return;
  e.code.i32(-half);
  call(e, 'smax32');
  mask(e, inst.type);
}

/** Integer to float with one rounding. To f16 and bf16: 32-bit integers by way of f64, which holds them exactly, 64-bit integers in the host. */
export function intToFloat(e: Emitter, inst: InstOf<'sitofp'> | InstOf<'uitofp'>, isSigned: boolean): void {
  const held = integerHeldAs(typeOf(e, inst.a));
  const sign = isSigned ? 's' : 'u';
  (isSigned ? pushSigned : pushPlain)(e, inst.a);
  if (!isShort(inst.type)) return e.code.op(`${computedAs(inst.type)}.convert_${held}_${sign}`);
  if (held === 'i64') return e.code.at('call', e.host.functions[`${inst.type}Of${isSigned ? 'Signed' : 'Unsigned'}`]);
  e.code.op(`f64.convert_i32_${sign}`);
  narrowFrom(e, inst.type, 'f64');
}

/** Converts between pointers and integers: as an integer, an address of shared, constant or local memory is its offset in the window. */
export function convertAddress(e: Emitter, value: Value, pointer: Type, op: 'i64.add' | 'i64.sub'): void {
  e.values.push(value);
  const space = pointer.slice('ptr.'.length);
  if (space !== 'shared' && space !== 'constant' && space !== 'local') return;
  e.window(space);
  e.code.op(op);
}
