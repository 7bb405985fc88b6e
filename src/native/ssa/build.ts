/**
 * SSA form of a function of a module. Structured control flow says where a local may have several values: at the end of a structure whose label is
 * jumped to, and at the header of a loop, and only if it is assigned inside. Values are looked up where they are read, so that a parameter is
 * made only for a local that is read. Source: Braun et al., Simple and Efficient Construction of SSA Form, 2013.
 */
import { bug } from '../../base/bug.ts';
import type { ReadInstruction, ValueType, WasmModuleRead } from '../../wasm/index.ts';
import { orderBlocks } from './flow.ts';
import { type LocalValues, newLocalValues } from './locals.ts';
import { removeTrivialParams } from './params.ts';
import { signatureOf } from './signature.ts';
import type { Block, Edge, End, Inst, SsaFunction, SsaType, Value } from './types.ts';

/** An open structure. */
interface Frame {
  readonly kind: 'block' | 'loop' | 'if' | 'else';
  /** Values on the stack below it. */
  readonly height: number;
  readonly result: ValueType | undefined;
  /** The block in which it opens. */
  readonly opened: number;
  /** The number of the instruction that opens it. */
  readonly start: number;
  /** Of a loop: its header. */
  readonly header: number;
  /** Jumps to its label, other than a loop's, by the blocks from which they come. */
  readonly jumps: { readonly from: number; readonly edge: Edge }[];
  /** Of an `if`: the edge to what follows `else`. */
  otherwise: { readonly from: number; readonly edge: Edge } | undefined;
}

interface Builder {
  readonly module: WasmModuleRead;
  readonly blocks: Block[];
  readonly types: SsaType[];
  readonly locals: LocalValues;
  readonly localTypes: readonly ValueType[];
  readonly stack: Value[];
  readonly frames: Frame[];
  /** The block that is being written; undefined after a jump, since nothing is reached there. */
  current: number | undefined;
  /** The number of the instruction. */
  at: number;
  /** Structures open in code that is not reached. */
  skipped: number;
  why: string | undefined;
}

/** The SSA form of the function of a number, or why there is none. */
export function buildSsa(module: WasmModuleRead, functionIndex: number): SsaFunction | { readonly why: string } {
  const body = module.bodies[functionIndex - module.importedFunctions] ?? bug(`function ${functionIndex} has no body`);
  const { params, results } = module.functions[functionIndex]!;
  if (results.length > 1) return { why: 'a function of several results' };
  const types: SsaType[] = [...params];
  const localTypes = [...params, ...body.locals];
  const blocks: Block[] = [];
  const locals = newLocalValues({ blocks, types, localTypes, instructions: body.instructions });
  const b: Builder = { module, blocks, types, locals, localTypes, stack: [], frames: [], current: 0, at: 0, skipped: 0, why: undefined };
  newBlock(b);
  params.forEach((_, local) => {
    blocks[0]!.params.push(local);
    locals.set(0, local, local);
  });
  open(b, 'block', results[0]);
  for (; b.at < body.instructions.length && b.why === undefined; b.at++) step(b, body.instructions[b.at]!, body.rare.has(b.at));
  if (b.why !== undefined) return { why: b.why };
  locals.finish();
  const fn: SsaFunction = { index: functionIndex, params, results, types, blocks };
  removeTrivialParams(fn);
  orderBlocks(fn);
  return fn;
}

function newBlock({ blocks }: Builder): number {
  blocks.push({ params: [], insts: [], end: { op: 'trap' }, loopDepth: 0 });
  return blocks.length - 1;
}

const newValue = ({ types }: Builder, type: SsaType): Value => types.push(type) - 1;

const pop = ({ stack }: Builder): Value => stack.pop() ?? bug('an operand is missing');

function popMany({ stack }: Builder, count: number): Value[] {
  if (stack.length < count) bug('operands are missing');
  const values: Value[] = [];
  for (let i = stack.length - count; i < stack.length; i++) values.push(stack[i]!);
  stack.length -= count;
  return values;
}

function endBlock(b: Builder, end: End): void {
  b.blocks[b.current!]!.end = end;
  b.current = undefined;
}

function add(b: Builder, op: string, args: Value[], type: ValueType | undefined, index?: number): void {
  const result = type === undefined ? undefined : newValue(b, type);
  b.blocks[b.current!]!.insts.push(index === undefined ? { op, args, result } : { op, args, result, index });
  if (result !== undefined) b.stack.push(result);
}

function step(b: Builder, instruction: ReadInstruction, isRare: boolean): void {
  if (b.current === undefined && skip(b, instruction)) return;
  const control = controls[instruction.name];
  if (control) control(b, instruction, isRare);
  else plain(b, instruction);
}

/** Whether an instruction is not reached: all are but the end, or the `else`, of a structure that was open before. */
function skip(b: Builder, { name }: ReadInstruction): boolean {
  if (name === 'block' || name === 'loop' || name === 'if') b.skipped++;
  else if (b.skipped > 0) {
    if (name === 'end') b.skipped--;
  } else return name !== 'end' && name !== 'else';
  return true;
}

/** An instruction without control flow, and its immediates. */
function plain(b: Builder, { name: op, index, offset, bits, bytes }: ReadInstruction): void {
  const signature = signatureOf(op) ?? bug(`no types of ${op}`);
  const args = popMany(b, signature.params.length);
  const result = signature.result === undefined ? undefined : newValue(b, signature.result);
  b.blocks[b.current!]!.insts.push(withImmediates(op, args, result, { index, offset, bits, bytes }));
  if (result !== undefined) b.stack.push(result);
}

/** Of the immediates, an instruction has the number of a lane, with or without an offset, or one other. */
function withImmediates(
  op: string,
  args: Value[],
  result: Value | undefined,
  { index, offset, bits, bytes }: Pick<ReadInstruction, 'index' | 'offset' | 'bits' | 'bytes'>,
): Inst {
  if (offset !== undefined) return index === undefined ? { op, args, result, offset } : { op, args, result, offset, lane: index };
  if (index !== undefined) return { op, args, result, lane: index };
  if (bits !== undefined) return { op, args, result, bits };
  return bytes === undefined ? { op, args, result } : { op, args, result, bytes: Array.from(bytes) };
}

function open(b: Builder, kind: Frame['kind'], result: ValueType | undefined, header = -1): Frame {
  const frame: Frame = {
    kind,
    height: b.stack.length,
    result,
    opened: b.current!,
    start: b.at,
    header,
    jumps: [],
    otherwise: undefined,
  };
  b.frames.push(frame);
  return frame;
}

/** A jump from the current block to the label at a depth. Values of the label stay on the stack. */
function edgeTo(b: Builder, depth: number): Edge {
  const frame = b.frames.at(-1 - depth) ?? bug(`no label at depth ${depth}`);
  if (frame.kind === 'loop') {
    const edge = { block: frame.header, args: [] };
    b.locals.addEdge(b.current!, edge);
    return edge;
  }
  const edge = { block: -1, args: frame.result === undefined ? [] : [b.stack.at(-1)!] };
  frame.jumps.push({ from: b.current!, edge });
  return edge;
}

/** A new block that only one edge leads to, which is made the current one. */
function enter(b: Builder, from: number, edge: Edge): void {
  const block = newBlock(b);
  edge.block = block;
  b.locals.addEdge(from, edge);
  b.locals.follow(block, from);
  b.current = block;
}

type Control = (b: Builder, instruction: ReadInstruction, isRare: boolean) => void;

const controls: Readonly<Record<string, Control>> = {
  nop: () => {},
  drop: (b) => void pop(b),
  unreachable: (b) => endBlock(b, { op: 'trap' }),
  block: (b, { result }) => void open(b, 'block', result),
  loop(b, { result }) {
    const from = b.current!;
    const header = newBlock(b);
    open(b, 'loop', result, header);
    const edge = { block: header, args: [] };
    endBlock(b, { op: 'jump', to: edge });
    b.locals.addEdge(from, edge);
    b.locals.join(header, from, b.at, endOf(b));
    b.current = header;
  },
  if(b, { result }, isRare) {
    const cond = pop(b);
    const from = b.current!;
    const frame = open(b, 'if', result);
    const then = { block: -1, args: [] };
    const otherwise = { block: -1, args: [] };
    endBlock(b, { op: 'branch', cond, then, else: otherwise, ...(isRare ? { isRare } : {}) });
    frame.otherwise = { from, edge: otherwise };
    enter(b, from, then);
  },
  else(b) {
    const frame = b.frames.pop() ?? bug('else without if');
    const { from, edge } = frame.otherwise ?? bug('else without if');
    leave(b, frame);
    b.stack.length = frame.height;
    b.frames.push({ ...frame, kind: 'else', otherwise: undefined });
    enter(b, from, edge);
  },
  end(b) {
    const frame = b.frames.pop() ?? bug('end without a structure');
    close(b, frame);
    if (b.frames.length > 0 || b.current === undefined) return;
    endBlock(b, { op: 'return', values: frame.result === undefined ? [] : [pop(b)] });
  },
  br: (b, { index }) => endBlock(b, { op: 'jump', to: edgeTo(b, index!) }),
  br_if(b, { index }, isRare) {
    const cond = pop(b);
    const from = b.current!;
    const then = edgeTo(b, index!);
    const otherwise = { block: -1, args: [] };
    endBlock(b, { op: 'branch', cond, then, else: otherwise, ...(isRare ? { isRare } : {}) });
    enter(b, from, otherwise);
  },
  br_table(b, { depths }) {
    const index = pop(b);
    endBlock(b, { op: 'switch', index, edges: depths!.map((depth) => edgeTo(b, depth)) });
  },
  return: (b) => endBlock(b, { op: 'jump', to: edgeTo(b, b.frames.length - 1) }),
  select(b) {
    const args = popMany(b, 3);
    add(b, 'select', args, b.types[args[0]!] as ValueType);
  },
  call(b, { index }) {
    const { params, results } = b.module.functions[index!]!;
    if (results.length > 1) b.why = 'a call of a function of several results';
    else add(b, 'call', popMany(b, params.length), results[0], index!);
  },
  'local.get': (b, { index }) => void b.stack.push(b.locals.get(b.current!, index!)),
  'local.set': (b, { index }) => b.locals.set(b.current!, index!, pop(b)),
  'local.tee': (b, { index }) => b.locals.set(b.current!, index!, b.stack.at(-1)!),
  'global.get': (b, { index }) => add(b, 'global.get', [], b.module.globals[index!]!.type, index!),
  'global.set': (b, { index }) => add(b, 'global.set', [pop(b)], undefined, index!),
};

/** The number of the `end` of the structure that opens at the current instruction. */
const endOf = (b: Builder): number => b.locals.endOf(b.at);

/** At the end of what a structure has: a jump to its label. */
function leave(b: Builder, frame: Frame): void {
  if (b.current === undefined) return;
  const args = frame.result === undefined ? [] : [pop(b)];
  const edge = { block: -1, args };
  frame.jumps.push({ from: b.current, edge });
  endBlock(b, { op: 'jump', to: edge });
}

/** Goes on behind a structure: in the same block, where nothing jumps there; else in a new block with the result as a parameter. */
function close(b: Builder, frame: Frame): void {
  const { kind, jumps, result, height, opened, start } = frame;
  if (frame.otherwise) jumps.push(frame.otherwise);
  if (kind === 'loop' || jumps.length === 0) {
    if (b.current === undefined) b.stack.length = height;
    return;
  }
  leave(b, frame);
  b.stack.length = height;
  const block = newBlock(b);
  for (const { from, edge } of jumps) {
    edge.block = block;
    b.locals.addEdge(from, edge);
  }
  b.locals.join(block, opened, start, b.at);
  b.current = block;
  if (result === undefined) return;
  const param = newValue(b, result);
  b.blocks[block]!.params.push(param);
  b.stack.push(param);
}
