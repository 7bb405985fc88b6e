/**
 * Pointers out of integer arithmetic: `inttoptr (ptrtoint p + x)` becomes `ptradd p, x`, through sums, differences, selections
 * and block parameters. A value that is an address on some paths only stays an integer.
 */
import { addTo } from '../../base/group.ts';
import { type Base, basesOf } from '../analysis/bases.ts';
import { definingBlocks } from '../analysis/liveness.ts';
import { addBlockParam, addInst } from '../build.ts';
import { type Block, type Edge, edgesOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { isPointer, type PointerType, spaceOf } from '../types.ts';
import { replaceAll, substitution } from './substitution.ts';

interface State {
  readonly kernel: Kernel;
  readonly bases: readonly (Base | undefined)[];
  /** By integer: the pointer that has its address. */
  readonly pointers: Map<Value, Value>;
  /** By value: the id of the block that defines it. */
  readonly home: Int32Array;
  /** By block: the pointer instructions to be placed after the integer that each mirrors. */
  readonly placed: Map<Block, Map<Value, Value[]>>;
  /** Block parameters whose arguments are still to be handed over. */
  readonly pending: { readonly param: Value; readonly block: Block; readonly index: number; readonly type: PointerType }[];
}

/** Recovers pointers in place; gives whether anything changed. */
export function recoverPointers(kernel: Kernel): boolean {
  const state: State = {
    kernel,
    bases: basesOf(kernel),
    pointers: new Map(),
    home: definingBlocks(kernel),
    placed: new Map(),
    pending: [],
  };
  const casts = kernel.blocks.flatMap(({ body }) => body.filter((value) => isRecoverable(state, value)));
  if (casts.length === 0) return false;
  const replaced = substitution(kernel.insts.length);
  for (const cast of casts) replaced.replace(cast, recoverCast(state, cast));
  const edges = state.pending.length > 0 ? edgesByTarget(kernel) : new Map<Block, Edge[]>();
  for (let next = state.pending.pop(); next; next = state.pending.pop()) handOver(state, next, edges);
  for (const [block, behind] of state.placed) place(block, behind);
  replaceAll(kernel, replaced);
  return casts.length > 0;
}

function isRecoverable({ kernel, bases }: State, value: Value): boolean {
  const inst = kernel.insts[value]!;
  return inst.op === 'inttoptr' && isPointer(inst.type) && bases[inst.a] === spaceOf(inst.type);
}

/** The pointer that replaces a cast. */
function recoverCast(state: State, cast: Value): Value {
  const inst = state.kernel.insts[cast]!;
  return inst.op === 'inttoptr' ? pointerOf(state, inst.a, inst.type as PointerType) : cast;
}

/** The pointer for an integer that is based in its space. Chains are walked with a stack: sums nest deeply. */
function pointerOf(state: State, integer: Value, type: PointerType): Value {
  const work: Value[] = [integer];
  for (let value = work.at(-1); value !== undefined; value = work.at(-1)) {
    const waits = state.pointers.has(value) ? [] : missing(state, value);
    if (waits.length > 0) work.push(...waits);
    else {
      work.pop();
      if (!state.pointers.has(value)) state.pointers.set(value, makePointer(state, value, type));
    }
  }
  return state.pointers.get(integer)!;
}

/** The based operands of a value that have no pointer yet. */
function missing(state: State, value: Value): Value[] {
  return basedOperands(state, value).filter((operand) => !state.pointers.has(operand));
}

function basedOperands({ kernel, bases }: State, value: Value): Value[] {
  const inst = kernel.insts[value]!;
  if (inst.op === 'add') return [bases[inst.a] === 'none' ? inst.b : inst.a];
  if (inst.op === 'sub') return [inst.a];
  return inst.op === 'select' ? [inst.a, inst.b] : [];
}

function makePointer(state: State, value: Value, type: PointerType): Value {
  const inst = state.kernel.insts[value]!;
  const pointer = (operand: Value): Value => state.pointers.get(operand)!;
  switch (inst.op) {
    case 'ptrtoint':
      return inst.a;
    case 'add': {
      const [base, offset] = state.bases[inst.a] === 'none' ? [inst.b, inst.a] : [inst.a, inst.b];
      return behind(state, value, { op: 'ptradd', type, a: pointer(base), b: offset });
    }
    case 'sub': {
      const zero = behind(state, value, { op: 'const', type: 'i64', bits: 0n });
      const negated = behind(state, value, { op: 'sub', type: 'i64', a: zero, b: inst.b });
      return behind(state, value, { op: 'ptradd', type, a: pointer(inst.a), b: negated });
    }
    case 'select':
      return behind(state, value, { op: 'select', type, cond: inst.cond, a: pointer(inst.a), b: pointer(inst.b) });
    default:
      return pointerParam(state, value, type);
  }
}

/** A block parameter of its own, whose arguments follow when all pointers before it are known. */
function pointerParam(state: State, param: Value, type: PointerType): Value {
  const block = state.kernel.blocks[state.home[param]!]!;
  const index = block.params.indexOf(param);
  const pointer = addBlockParam(state.kernel, block, type);
  state.pending.push({ param, block, index, type });
  return pointer;
}

function handOver(state: State, { param, block, index, type }: State['pending'][number], edges: ReadonlyMap<Block, readonly Edge[]>): void {
  const at = block.params.indexOf(state.pointers.get(param)!);
  for (const edge of edges.get(block) ?? []) edge.args[at] = pointerOf(state, edge.args[index]!, type);
}

function edgesByTarget({ blocks }: Kernel): Map<Block, Edge[]> {
  const edges = new Map<Block, Edge[]>();
  for (const { end } of blocks) for (const edge of edgesOf(end)) addTo(edges, edge.block, edge);
  return edges;
}

/** Adds an instruction to be placed after a value. */
function behind(state: State, value: Value, inst: Inst): Value {
  const made = addInst(state.kernel, inst, state.kernel.locs[value]);
  const block = state.kernel.blocks[state.home[value]!]!;
  const places = state.placed.get(block) ?? new Map<Value, Value[]>();
  state.placed.set(block, places);
  addTo(places, value, made);
  return made;
}

function place(block: Block, behind: ReadonlyMap<Value, readonly Value[]>): void {
  block.body = block.body.flatMap((value) => [value, ...(behind.get(value) ?? [])]);
}
