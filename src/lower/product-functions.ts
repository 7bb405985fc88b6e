/**
 * Products of matrices, and other instructions that are long straight code, as functions of a kernel: it calls them at each use, so that it is about as
 * long as its source. Metallibs of targets without the instruction have them.
 */
import {
  type Builder,
  columnsOfThread,
  gatheredLanes,
  type Kernel,
  mmaForm,
  mmaRegisters,
  productFunctionName,
  registersAs,
  type ScalarType,
  sumType,
  type Type,
  type Value,
} from '../ir/index.ts';
import type { AnySources, ExchangeCode, Match, ProductExpansion, PureCode } from '../ptx/index.ts';
import type { Context } from './context.ts';
import { addFunction } from './pure-function.ts';

/** Notes that a kernel has products of a form. */
export function noteProduct(kernel: Kernel, text: string, expand: ProductExpansion): void {
  const form = mmaForm(text);
  const { a, b, c } = mmaRegisters(form);
  const sum = sumType(form.sum);
  const gathered = (count: number): Type[] => new Array<Type>(count).fill(registersAs('i32', gatheredLanes));
  const types = [...gathered(a), ...gathered(columnsOfThread * b), registersAs(sum, c)];
  addFunction(kernel, productFunctionName(text), types, (ir, rows, operands) => {
    const elements = (type: ScalarType, values: readonly Value[], count: number): Value[] =>
      values.flatMap((value) => Array.from({ length: count }, (_, lane) => (count === 1 ? value : ir.extract(type, value, { lane }))));
    const [left, right, addend] = [operands.slice(0, a), operands.slice(a, -1), operands.slice(-1)];
    const [x, y, z] = [elements('i32', left, gatheredLanes), elements('i32', right, gatheredLanes), elements(sum, addend, c)];
    const [first, second, third, fourth] = expand(rows, text, x, y, z) as [Value, Value, Value, Value];
    if (c === 1) return first;
    return c === 2 ? ir.vec2(registersAs(sum, 2), first, second) : ir.vec4(registersAs(sum, 4), first, second, third, fourth);
  });
}

/** The value of an instruction that is a function; undefined for others. */
export function valueByFunction(c: Context, { row, modifiers, instruction, operands }: Match, sources: AnySources): Value | undefined {
  if (!row.asFunction || c.rows.productFunction === undefined) return undefined;
  const form = row.asFunction(sources, modifiers, c.rows);
  if (!form) return undefined;
  const names = operands.filter(({ slot }) => !slot.isDestination).map(({ slot }) => slot.name);
  const given = names.map((name) => sources[name] as Value);
  const fn = ['cumetal', instruction.opcode, ...instruction.modifiers].join('.') + form.suffix;
  return callPure(c.kernel, c.ir, fn, given, (rows, inside) =>
    form.lower(Object.fromEntries(names.map((name, i) => [name, inside[i]!])), rows),
  );
}

/** The value of a function of an i32 and the lane, and of that of other lanes, which reads shared memory; its code is the same wherever the name is. */
export function callExchange(kernel: Kernel, ir: Builder, fn: string, [given, lane]: readonly [Value, Value], code: ExchangeCode): Value {
  const { body, result } = addFunction(
    kernel,
    fn,
    ['i32', 'i32'],
    (_, rows, [own, number]) => code(Object.assign(rows, { sreg: () => number! }), own!),
    'exchanges',
  );
  return ir.exchange(body.insts[result]!.type, given, lane, { fn });
}

/** The value of the function of a name, whose code of two or three operands is the same wherever the name is. */
export function callPure(kernel: Kernel, ir: Builder, fn: string, operands: readonly Value[], code: PureCode, gives?: 'flushed'): Value {
  const types = operands.map((value) => ir.typeOf(value));
  const doing = gives === 'flushed' ? 'flushes' : 'computes';
  const { body, result } = addFunction(kernel, fn, types, (_, rows, inside) => code(rows, inside), doing);
  const { type } = body.insts[result]!;
  const [x, y, z] = operands as [Value, Value, Value | undefined];
  return z === undefined ? ir.call2(type, x, y, { fn }) : ir.call3(type, x, y, z, { fn });
}
