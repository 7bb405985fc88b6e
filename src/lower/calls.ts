/**
 * Calls: the body of the function is inlined in place of the call, with registers of its own. Parameters share the memory of the
 * caller's `.param` variables where the function does no more than read them, and the results where it does no more than write them.
 */
import { bug } from '../base/bug.ts';
import type { ScalarType, Value } from '../ir/index.ts';
import {
  type CheckedCall,
  type CheckedFunction,
  type CheckedInstruction,
  type Choices,
  constantValue,
  immediateBits,
  lanesOfVariable,
  lookUp,
  type Operand,
  printOperand,
  type Register,
  registerTypes,
  sink,
} from '../ptx/index.ts';
import type { Variable } from '../ptx/syntax/ast.ts';
import { cellOf, copyCell, loadFrom, ownedBy, storeTo } from './cells.ts';
import {
  type Cell,
  type Context,
  enter,
  type Frame,
  lowerWhen,
  newFrame,
  readRegister,
  registerIn,
  variableNamed,
  writeRegister,
} from './context.ts';
import { lowerStop, placeOf } from './faults.ts';
import { newFlow } from './flow.ts';
import { flowGraph, leavingEdges, type SourceBlock } from './flow-graph.ts';
import { guardValue } from './instructions.ts';
import { newCode } from './native-code.ts';
import { reinterpret } from './ssa/convert.ts';
import { type Flow, link } from './ssa/ssa.ts';
import { movesStackTop, setStackTop, stackTop } from './stack-memory.ts';

/** A call whose arguments are handed over. */
export interface OpenedCall {
  readonly frame: Frame;
  readonly blocks: readonly SourceBlock[];
  /** Where the function returns to. */
  readonly returned: Flow;
  /** Takes the results and continues after the call, in the frame of the caller. */
  finish(): void;
}

/** The destination of a result when the function has returned. */
type Result = (frame: Frame) => void;

/** Ends the block before the call and hands the arguments over. */
export function openCall(c: Context, item: CheckedInstruction, call: CheckedCall): OpenedCall {
  c.scope = item.scope;
  const { span } = item.match.instruction;
  c.ir.loc = span;
  const fn = c.functions.get(call.fn)!;
  const blocks = blocksOf(fn);
  const start = newFlow(c.kernel, 1);
  const returned = newFlow(c.kernel, leavingEdges(blocks));
  const cond = conditionOf(c, item, call);
  const after = cond === undefined ? returned : newFlow(c.kernel, 2);
  leadTo(c, start, cond === undefined ? undefined : { cond, after });
  const frame = newFrame(fn, start);
  const results = handOver(c, frame, call);
  // What `alloca` has taken is free again when the function returns.
  const top = movesStackTop(fn) ? savedStack(c) : undefined;
  return {
    frame,
    blocks,
    returned,
    finish() {
      c.scope = item.scope;
      c.ir.loc = span;
      enter(c, returned);
      top?.();
      for (const result of results) result(frame);
      if (after === returned) return;
      returned.block.end = { op: 'br', to: link(c.flow, after) };
      enter(c, after);
    },
  };
}

/** Notes where the stack ends; gives what sets it back. */
function savedStack(c: Context): () => void {
  // As `alloca` itself: see `kept.ts`.
  if (!c.natives || c.natives.sm < 52) {
    const top = stackTop(c);
    return () => setStackTop(c, top);
  }
  const save = newCode(c);
  let top: Value | undefined;
  save.emit(
    `stacksave.u64 ${save.take('i64', (value) => {
      top = value;
    })};`,
    7.3,
  );
  return () => {
    const restore = newCode(c);
    restore.emit(`stackrestore.u64 ${restore.give(top!)};`, 7.3);
  };
}

/** Under which condition a function is called; nothing where it is in any case. */
export function conditionOf(c: Context, { guard }: CheckedInstruction, { choice }: CheckedCall): Value | undefined {
  if (!choice) return guard && guardValue(c, guard);
  const chosen = c.chosen.get(choice.among)!;
  const isMeant = c.ir.icmp(chosen.number, c.ir.const('i64', choice.number), { pred: 'eq' });
  return chosen.guard === undefined ? isMeant : c.ir.and(chosen.guard, isMeant);
}

/**
 * Looks at the register that a call goes through, which the results of a call may be written to, before the first of the functions that
 * may be meant. A number of none of them stops the kernel.
 */
export function lowerChoice(c: Context, item: CheckedInstruction, { register, numbers }: Choices): void {
  c.scope = item.scope;
  c.ir.loc = item.match.instruction.span;
  const [lane] = lanesNamed(c, register);
  const value = readRegister(c, lane ?? bug(`no register: ${printOperand(register)}`));
  const number = reinterpret(c.ir, value, 'i64', false);
  const guard = item.guard && guardValue(c, item.guard);
  c.chosen.set(item.call!.choice!.among, { number, guard });
  const differs = numbers.map((each) => c.ir.icmp(number, c.ir.const('i64', each), { pred: 'ne' }));
  const isNone = [...differs, ...(guard === undefined ? [] : [guard])].reduce((a, b) => c.ir.and(a, b));
  lowerWhen(c, isNone, () => lowerStop(c, `a call through a register that holds the address of no function it may be of${placeOf(c)}`));
}

const graphs = new WeakMap<CheckedFunction, readonly SourceBlock[]>();

export function blocksOf(fn: CheckedFunction): readonly SourceBlock[] {
  const blocks = graphs.get(fn) ?? flowGraph(fn.items);
  graphs.set(fn, blocks);
  return blocks;
}

export function leadTo(c: Context, start: Flow, guard: { readonly cond: Value; readonly after: Flow } | undefined): void {
  const from = c.flow;
  from.block.endLoc = c.ir.loc;
  const to = link(from, start);
  from.block.end = guard ? { op: 'condbr', cond: guard.cond, then: to, else: link(from, guard.after) } : { op: 'br', to };
  enter(c, start);
}

/** Gives the parameters their values and the results their memory; returns the work to be done after the function has returned. */
function handOver(c: Context, frame: Frame, { fn, args, results }: CheckedCall): Result[] {
  const owned = ownedBy(frame.fn);
  const resultCells = results.map((operand) => variableNamed(c, operand));
  fn.params.forEach((formal, i) => {
    const actual = args[i]!;
    const variable = variableNamed(c, actual);
    const isShared = variable !== undefined && !owned.has(formal) && !resultCells.includes(variable);
    if (formal.space === 'reg') setRegisters(c, frame, formal, valuesOf(c, actual, formal));
    else if (isShared) frame.cells.set(formal, cellOf(c, variable));
    else {
      const cell = cellOf(c, formal);
      frame.cells.set(formal, cell);
      if (variable) copyCell(c, cellOf(c, variable), cell);
      else storeTo(c, cell, valuesOf(c, actual, formal));
    }
  });
  return fn.results.flatMap((formal, i): Result[] => {
    const actual = results[i]!;
    const variable = resultCells[i];
    if (formal.space === 'reg') return [(inside) => give(c, actual, registersOf(c, inside, formal))];
    const isShared = variable !== undefined && !owned.has(formal) && resultCells.indexOf(variable) === resultCells.lastIndexOf(variable);
    const cell = cellOf(c, isShared ? variable : formal);
    frame.cells.set(formal, cell);
    return isShared ? [] : [() => takeCell(c, actual, formal, cell)];
  });
}

export function takeCell(c: Context, actual: Operand, formal: Variable, cell: Cell | undefined): void {
  const variable = variableNamed(c, actual);
  if (variable) copyCell(c, cell, cellOf(c, variable));
  else if (actual.kind === 'name' && actual.name !== sink) give(c, actual, loadFrom(c, cell, heldAs(formal), lanesOfVariable(formal)));
}

const heldAs = ({ type }: Variable): ScalarType => registerTypes[type] ?? 'i32';

/** The registers that an operand names, those of a vector in order. */
function lanesNamed(c: Context, operand: Operand): readonly Register[] {
  const symbol = operand.kind === 'name' ? lookUp(c.scope, operand.name) : undefined;
  return symbol?.kind === 'register' ? [symbol.register] : symbol?.kind === 'vector' ? symbol.lanes : [];
}

/** The value that an operand passes, as the type of its place. */
export function valuesOf(c: Context, operand: Operand, formal: Variable): Value[] {
  const type = heldAs(formal);
  const variable = variableNamed(c, operand);
  if (variable) return loadFrom(c, cellOf(c, variable), type, lanesOfVariable(formal));
  const lanes = lanesNamed(c, operand);
  if (lanes.length > 0) return lanes.map((lane) => reinterpret(c.ir, readRegister(c, lane), type, false));
  return [c.ir.const(type, constantOf(c, operand, type))];
}

/** A float constant for bits of another width than its own has no bits that are known. */
function constantOf(c: Context, operand: Operand, type: ScalarType): bigint {
  const isFloat = constantValue(operand)?.type === 'f64';
  const own = operand.kind === 'float' && operand.format === 'f32' ? 'i32' : 'i64';
  const bits = isFloat && type.startsWith('i') && type !== own ? undefined : immediateBits(operand, type);
  if (bits !== undefined) return bits;
  const why = 'it is no constant of the type of the parameter';
  c.diagnostics.report('CM2049', { operand: printOperand(operand), why }, { span: operand.span });
  return 0n;
}

/** The registers that a parameter or result of a function is. */
export function formalRegisters({ fn }: Frame, { name }: Variable): readonly Register[] {
  const symbol = fn.scope.names.get(name);
  return symbol?.kind === 'register' ? [symbol.register] : symbol?.kind === 'vector' ? symbol.lanes : [];
}

function setRegisters(c: Context, frame: Frame, formal: Variable, values: readonly Value[]): void {
  formalRegisters(frame, formal).forEach((register, i) => {
    c.registers.write(c.flow, registerIn(c, frame, register), values[i]!);
  });
}

const registersOf = (c: Context, frame: Frame, formal: Variable): Value[] =>
  formalRegisters(frame, formal).map((register) => c.registers.read(c.flow, registerIn(c, frame, register)));

/** Writes the values of a result to the registers that an operand names. */
export function give(c: Context, operand: Operand, values: readonly Value[]): void {
  const variable = variableNamed(c, operand);
  if (variable) storeTo(c, cellOf(c, variable), values);
  lanesNamed(c, operand).forEach((lane, i) => {
    if (values[i] !== undefined) writeRegister(c, lane, reinterpret(c.ir, values[i], lane.type, false));
  });
}
