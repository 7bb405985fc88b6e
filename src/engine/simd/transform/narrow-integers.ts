/**
 * Narrowing: 64-bit integers of which only the low half is demanded become 32-bit integers, and so do the pointers made of them. The result is
 * in the narrowed dialect of the IR (`src/ir/dialect.ts`).
 */
import {
  addInst,
  type Block,
  bitsOf,
  edgesOf,
  type Inst,
  isPointer,
  type Kernel,
  mapOperands,
  operandsOf,
  type Substitution,
  substitution,
  type Value,
  wideValues,
} from '../../../ir/index.ts';

/** Narrows in place a kernel whose block ids are positions. */
export function narrowIntegers(kernel: Kernel): boolean {
  const wide = wideValues(kernel);
  const state: State = { kernel, wide, was: kernel.insts.map(({ type }) => type), same: substitution(), lows: new Map() };
  for (const block of kernel.blocks) for (const param of block.params) retype(state, param);
  for (const block of kernel.blocks) narrowBlock(state, block);
  const seen = state.same.of;
  for (const block of kernel.blocks) {
    for (const value of block.body) mapOperands(kernel.insts[value]!, seen);
    const { end } = block;
    if (end.op === 'condbr') end.cond = seen(end.cond);
    for (const edge of edgesOf(end))
      edge.args = edge.args.map((arg, i) => {
        const param = edge.block.params[i]!;
        return isNarrowedInt(state, param) && isWide(state, arg) ? seen(lowOf(state, arg)) : seen(arg);
      });
  }
  placeLows(state);
  kernel.widePointers = new Set(valuesOf(kernel).filter((value) => wide[value] === 1 && isPointer(kernel.insts[value]!.type)));
  return true;
}

const valuesOf = ({ blocks }: Kernel): Value[] => blocks.flatMap(({ params, body }) => [...params, ...body]);

interface State {
  readonly kernel: Kernel;
  /** By value, of those that there were before: 1 where more than the low half is demanded. */
  readonly wide: Uint8Array;
  /** The types before. */
  readonly was: readonly Inst['type'][];
  /** Values that others replace. */
  readonly same: Substitution;
  /** The low halves of values that are demanded whole elsewhere. */
  readonly lows: Map<Value, Value>;
}

const isLong = (state: State, value: Value): boolean => state.was[value] === 'i64';
/** An integer that had 64 bits and has 32 now. */
const isNarrowedInt = (state: State, value: Value): boolean => isLong(state, value) && !state.wide[value];
const isWide = (state: State, value: Value): boolean => isLong(state, value) && state.wide[value] === 1;

function retype({ kernel, was, wide }: State, value: Value): void {
  if (was[value] === 'i64' && !wide[value]) kernel.insts[value]!.type = 'i32';
}

/** The low half of a value that stays long. */
function lowOf(state: State, value: Value): Value {
  const known = state.lows.get(value);
  if (known !== undefined) return known;
  const inst = state.kernel.insts[value]!;
  if ((inst.op === 'zext' || inst.op === 'sext') && bitsOf(state.was[inst.a]!) === 32) return inst.a;
  const low = addInst(state.kernel, { op: 'trunc', type: 'i32', a: value });
  state.lows.set(value, low);
  return low;
}

function narrowBlock(state: State, block: Block): void {
  const { kernel } = state;
  const body: Value[] = [];
  for (const value of block.body) {
    const inst = kernel.insts[value]!;
    if (isNarrowedInt(state, value)) narrowInst(state, value, inst);
    else if (isPointer(inst.type) && !state.wide[value]) takeLows(state, inst);
    else if (inst.op === 'trunc') narrowTrunc(state, value);
    if (!state.same.has(value)) body.push(value);
  }
  block.body = body;
}

function takeLows(state: State, inst: Inst): void {
  if (operandsOf(inst).some((operand) => isWide(state, operand)))
    mapOperands(inst, (operand) => (isWide(state, operand) ? lowOf(state, operand) : operand));
}

function narrowInst(state: State, value: Value, inst: Inst): void {
  retype(state, value);
  if (inst.op === 'const') inst.bits &= 0xffff_ffffn;
  else if (inst.op === 'zext' || inst.op === 'sext') {
    if (bitsOf(state.was[inst.a]!) === 32) state.same.replace(value, inst.a);
  } else if (inst.op !== 'load') takeLows(state, inst);
}

/** A truncation of a narrowed integer to its new width is that integer. */
function narrowTrunc(state: State, value: Value): void {
  const inst = state.kernel.insts[value]!;
  if (inst.op !== 'trunc') return;
  if (isNarrowedInt(state, inst.a) && inst.type === 'i32') state.same.replace(value, inst.a);
}

/** Places low halves after their whole values, those of parameters first. */
function placeLows({ kernel, lows }: State): void {
  if (lows.size === 0) return;
  for (const block of kernel.blocks) {
    const body: Value[] = [];
    const place = (value: Value): void => {
      const low = lows.get(value);
      if (low !== undefined) body.push(low);
    };
    block.params.forEach(place);
    for (const value of block.body) {
      body.push(value);
      place(value);
    }
    block.body = body;
  }
}
