/**
 * Products of matrices of a warp on targets without the instruction (`mma`): calls of functions. Each register of a factor is gathered from the
 * lanes that hold the row or the column, once in a block for all products that have it, and the function of the form computes the elements of
 * this thread.
 */
import type { Block as LlvmBlock, Value as LlvmValue } from '../../bitcode/model.ts';
import {
  addBlock,
  addBlockParam,
  builder,
  columnsOfThread,
  emptyKernel,
  gatheredLanes,
  type InstOf,
  mmaForm,
  mmaRegisters,
  type PureFunction,
  productFunctionName,
  type Value,
} from '../../ir/index.ts';
import type { KernelEmitter } from './emitter.ts';
import { elementAt } from './matrix-rules.ts';

/** What a register is gathered from: the row of the thread's group, or the first or the second column of the thread. */
type Line = 'row' | 'column.0' | 'column.1';

const functionName = (line: Line): string => `cumetal.gather.${line}`;

/**
 * A function of a register and the number of the lane: the register in the four lanes of a group. That of a row is the group of the lane itself; the
 * columns of lane l are numbers 2 (l mod 4) and the one behind it, and groups of the same numbers hold them.
 */
function gathering(line: Line): PureFunction {
  const body = emptyKernel(functionName(line));
  const block = addBlock(body);
  const [register, lane] = [addBlockParam(body, block, 'i32'), addBlockParam(body, block, 'i32')];
  const b = builder(body, block);
  const word = (value: number): Value => b.const('i32', value);
  const column = (): Value => b.shl(b.and(lane, word(gatheredLanes - 1)), word(3));
  const first = line === 'row' ? b.and(lane, word(32 - gatheredLanes)) : column();
  const from = line === 'column.1' ? gatheredLanes : 0;
  const lanes = Array.from({ length: gatheredLanes }, (_, at) => {
    const by = from + at;
    return b.shuffle(register, by === 0 ? first : b.or(first, word(by)));
  }) as [Value, Value, Value, Value];
  return { body, result: b.vec4('v4.i32', ...lanes) };
}

const gatherings = new Map<Line, PureFunction>();

function gatheringOf(line: Line): PureFunction {
  const made = gatherings.get(line) ?? gathering(line);
  gatherings.set(line, made);
  return made;
}

/** What was gathered in a block, by register and line. Threads do not diverge within it. */
const known = new WeakMap<LlvmBlock, Map<LlvmValue, Map<Line, LlvmValue>>>();

function gathered(e: KernelEmitter, register: LlvmValue, lane: LlvmValue, line: Line): LlvmValue {
  const { block } = e.b;
  const here = known.get(block) ?? new Map<LlvmValue, Map<Line, LlvmValue>>();
  known.set(block, here);
  const lines = here.get(register) ?? new Map<Line, LlvmValue>();
  here.set(register, lines);
  const found = lines.get(line) ?? e.callFunction(functionName(line), [register, lane], gatheringOf(line));
  lines.set(line, found);
  return found;
}

/** The registers of a product, by the function of its form. */
export function productRule(e: KernelEmitter, { a, b, c, d, form }: InstOf<'mma'>): LlvmValue {
  const count = mmaRegisters(mmaForm(form));
  const lane = e.value(d);
  const registersOf = (value: Value, of: number): LlvmValue[] => {
    const whole = e.value(value);
    return of === 1 ? [whole] : Array.from({ length: of }, (_, at) => elementAt(e, whole, at));
  };
  const columns = (['column.0', 'column.1'] as const).slice(0, columnsOfThread);
  const [left, right] = [registersOf(a, count.a), registersOf(b, count.b)];
  const args = [
    ...left.map((register) => gathered(e, register, lane, 'row')),
    ...columns.flatMap((line) => right.map((register) => gathered(e, register, lane, line))),
    e.value(c),
  ];
  return e.callFunction(productFunctionName(form), args);
}
