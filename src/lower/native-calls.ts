/**
 * Calls in kernels that become PTX again, where the function is not put in place of its call: those of functions without a body in the module, as
 * `malloc` and the device runtime are, and of functions that may come to call themselves. Arguments and results go through `.param` variables.
 */
import { bytesOf, type ScalarType, type Value } from '../ir/index.ts';
import {
  type CheckedCall,
  type CheckedInstruction,
  type Operand,
  type PtxFunction,
  printFunctionHead,
  printVariable,
  sink,
} from '../ptx/index.ts';
import type { Variable } from '../ptx/syntax/ast.ts';
import { conditionOf, formalRegisters, give, valuesOf } from './calls.ts';
import { addressOfCell, cellOf, chunksOf } from './cells.ts';
import { type Cell, type Context, lowerWhen, registerIn, variableNamed } from './context.ts';
import { layoutOf } from './initializer.ts';
import { type Code, newCode } from './native-code.ts';

/** A part of a parameter or result, as `ld.param` and `st.param` move it. */
interface Part {
  readonly at: number;
  readonly type: ScalarType;
}

const words: Readonly<Record<string, string>> = {
  i8: 'u8',
  i16: 'b16',
  i32: 'b32',
  i64: 'b64',
  f16: 'b16',
  bf16: 'b16',
  f32: 'f32',
  f64: 'f64',
};
const plus = (name: string, at: number): string => (at === 0 ? name : `${name}+${at}`);

/** The parts of a parameter that is memory. */
function partsOf(formal: Variable): Part[] {
  const layout = layoutOf(formal);
  return layout ? chunksOf(layout.size, layout.align) : [];
}

/** Values of the parts of memory. */
const loadParts = (c: Context, cell: Cell | undefined, parts: readonly Part[]): Value[] =>
  parts.map(({ at, type }) => c.ir.load(type, placeIn(c, cell, at), { align: bytesOf(type), volatile: false }));

const placeIn = (c: Context, cell: Cell | undefined, at: number): Value => {
  const pointer = addressOfCell(c, cell);
  return at === 0 ? pointer : c.ir.ptradd(pointer, c.ir.const('i64', at));
};

const storePart = (c: Context, cell: Cell | undefined, { at, type }: Part, value: Value): void =>
  void c.ir.store(placeIn(c, cell, at), value, { align: bytesOf(type), volatile: false });

/** The parts that values of a call are in: elements of one type one after the other, in registers. */
const elements = (values: readonly Value[], c: Context): Part[] =>
  values.map((value, i) => {
    const type = c.ir.typeOf(value) as ScalarType;
    return { at: i * bytesOf(type), type };
  });

/** A parameter or result of a prototype, as a variable of the body. */
export const named = (formal: Variable, name: string): string => {
  const { ptr: _, ...own } = formal;
  return printVariable({ ...own, ptr: undefined, space: 'param', name, linkage: undefined });
};

/** The head of a function as it is declared and defined, with parameters `argument_0` and results `result_0` and so on. */
export const headOf = (fn: PtxFunction): string => {
  const list = (formals: readonly Variable[], name: string): string =>
    `(${formals.map((formal, i) => named(formal, `${name}_${i}`).slice(0, -1)).join(', ')})`;
  return `.func ${fn.results.length > 0 ? `${list(fn.results, 'result')} ` : ''}${fn.name} ${list(fn.params, 'argument')}`;
};

/** Calls a function where the condition of the call holds. */
export function callNative(c: Context, item: CheckedInstruction, call: CheckedCall): void {
  c.scope = item.scope;
  c.ir.loc = item.match.instruction.span;
  const condition = conditionOf(c, item, call);
  const body = (): void => emitCall(c, call);
  if (condition === undefined) body();
  else lowerWhen(c, condition, body);
}

function emitCall(c: Context, { fn, args, results, isExternal }: CheckedCall): void {
  const natives = c.natives!;
  const code = newCode(c);
  const lines = fn.params.flatMap((formal, i) => argumentLines(c, code, formal, args[i]!, `given_${i}`));
  const after: string[] = [];
  fn.results.forEach((formal, i) => {
    lines.push(named(formal, `taken_${i}`));
    after.push(...resultLines(c, code, formal, results[i]!, `taken_${i}`));
  });
  const list = (count: number, name: string): string => Array.from({ length: count }, (_, i) => `${name}_${i}`).join(', ');
  const target = fn.results.length > 0 ? `(${list(fn.results.length, 'taken')}), ` : '';
  const given = fn.params.length > 0 ? `, (${list(fn.params.length, 'given')})` : '';
  if (isExternal) code.declare(printFunctionHead(fn));
  else natives.called.add(fn);
  code.emit(['{', ...lines, `call ${target}${fn.name}${given};`, ...after, '}'].join('\n'), natives.version);
}

function argumentLines(c: Context, code: Code, formal: Variable, actual: Operand, name: string): string[] {
  const variable = variableNamed(c, actual);
  const isMemory = variable !== undefined;
  const values = isMemory ? loadParts(c, cellOf(c, variable), partsOf(formal)) : valuesOf(c, actual, formal);
  const parts = isMemory ? partsOf(formal) : elements(values, c);
  return [named(formal, name), ...parts.map(({ at, type }, i) => `st.param.${words[type]} [${plus(name, at)}], ${code.give(values[i]!)};`)];
}

function resultLines(c: Context, code: Code, formal: Variable, actual: Operand, name: string): string[] {
  const variable = variableNamed(c, actual);
  if (variable) {
    const cell = cellOf(c, variable);
    return partsOf(formal).map(
      (part) =>
        `ld.param.${words[part.type]} ${code.take(part.type, (value) => storePart(c, cell, part, value))}, [${plus(name, part.at)}];`,
    );
  }
  if (actual.kind === 'name' && actual.name === sink) return [];
  const parts = partsOf(formal);
  const found: Value[] = [];
  return parts.map(
    ({ at, type }, i) =>
      `ld.param.${words[type]} ${code.take(type, (value) => {
        found[i] = value;
        if (i === parts.length - 1) give(c, actual, found);
      })}, [${plus(name, at)}];`,
  );
}

/** Gives the parameters of a function that is lowered by itself what it is called with. */
export function takeArguments(c: Context): void {
  const { fn } = c.frame.fn;
  fn.params.forEach((formal, i) => {
    const code = newCode(c);
    const registers = formal.space === 'reg' ? formalRegisters(c.frame, formal) : [];
    const cell = formal.space === 'reg' ? undefined : cellOf(c, formal);
    if (cell) c.frame.cells.set(formal, cell);
    const lines = partsOf(formal).map((part, at) => {
      const use = (value: Value): void => {
        if (cell) storePart(c, cell, part, value);
        else c.registers.write(c.flow, registerIn(c, c.frame, registers[at]!), value);
      };
      return `ld.param.${words[part.type]} ${code.take(part.type, use)}, [${plus(`argument_${i}`, part.at)}];`;
    });
    if (lines.length > 0) code.emit(lines.join('\n'), c.natives!.version);
  });
  for (const formal of fn.results) if (formal.space !== 'reg') c.frame.cells.set(formal, cellOf(c, formal));
}

/** Hands over the results of such a function, where it returns. */
export function giveResults(c: Context): void {
  const { fn } = c.frame.fn;
  const code = newCode(c);
  const lines = fn.results.flatMap((formal, i) => {
    const parts = partsOf(formal);
    const values =
      formal.space === 'reg'
        ? formalRegisters(c.frame, formal).map((register) => c.registers.read(c.flow, registerIn(c, c.frame, register)))
        : loadParts(c, c.frame.cells.get(formal), parts);
    return parts.map((part, at) => `st.param.${words[part.type]} [${plus(`result_${i}`, part.at)}], ${code.give(values[at]!)};`);
  });
  if (lines.length > 0) code.emit(lines.join('\n'), c.natives!.version);
}
