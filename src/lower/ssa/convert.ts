/** Values of one width and kind as another: how registers are read as the type of an instruction, and written back. */
import { type Builder, bitsOf, intOf, isInt, type ScalarType, type Value } from '../../ir/index.ts';

/** The bits of a scalar as an integer of its width. */
export function asInt(ir: Builder, value: Value): Value {
  const type = ir.typeOf(value) as ScalarType;
  return isInt(type) ? value : ir.bitcast(intOf(bitsOf(type)), value);
}

/** The low bits of a value as `type`; nothing is lost where the widths are equal. Widening fills with zeros or the sign. */
export function reinterpret(ir: Builder, value: Value, type: ScalarType, isSigned: boolean): Value {
  const from = ir.typeOf(value) as ScalarType;
  if (from === type) return value;
  const [have, want] = [bitsOf(from), bitsOf(type)];
  if (have === want) return ir.bitcast(type, value);
  const whole = asInt(ir, value);
  const sized = have > want ? ir.trunc(intOf(want), whole) : isSigned ? ir.sext(intOf(want), whole) : ir.zext(intOf(want), whole);
  return isInt(type) ? sized : ir.bitcast(type, sized);
}
