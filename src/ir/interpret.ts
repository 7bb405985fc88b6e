/**
 * A reference interpreter: one thread of a kernel over byte memory, one instruction at a time by `eval.ts`. It defines what a kernel means
 * for the specs; it is not how kernels are run. A barrier passes at once, and a warp is
 * the one thread, as in a block of one thread.
 */
import { isWide } from './dialect.ts';
import { evalOp, isEvaluableInst, type PureOp } from './eval.ts';
import type { Block, Edge, Inst, InstOf, Kernel, Value } from './kernel.ts';
import { flushesSubnormals } from './memory.ts';
import { operandsOf } from './operands.ts';
import type { Sreg } from './sregs.ts';
import { bytesOf, isPointer, type Space, spaceOf } from './types.ts';

/** The environment of a thread. Addresses are the bits of pointers: indices into the bytes of their space. */
export interface Thread {
  /** Bytes of each space that is accessed; accesses outside end the run. */
  readonly memory: Partial<Record<Space, Uint8Array>>;
  /** By parameter: the address of its bytes (by value) or where the buffer starts. */
  readonly params: readonly bigint[];
  /** By name: where a variable starts in its space. */
  readonly variables: Readonly<Record<string, bigint>>;
  readonly sregs: Partial<Record<Sreg, number>>;
  /** Instructions after which the run is abandoned. */
  readonly limit: number;
}

export type Outcome = { readonly ended: 'return' } | { readonly ended: 'limit' } | { readonly ended: 'fault'; readonly why: string };

interface State {
  readonly kernel: Kernel;
  readonly thread: Thread;
  readonly bits: bigint[];
  steps: number;
}

class Fault extends Error {}

/** Runs one thread; its stores are in `thread.memory` afterwards. */
export function interpret(kernel: Kernel, thread: Thread): Outcome {
  const state: State = { kernel, thread, bits: [], steps: 0 };
  try {
    let block: Block | undefined = kernel.blocks[0];
    while (block) {
      if (state.steps > thread.limit) return { ended: 'limit' };
      block = runBlock(state, block);
    }
    return { ended: 'return' };
  } catch (error) {
    if (error instanceof Fault) return { ended: 'fault', why: error.message };
    throw error;
  }
}

function runBlock(state: State, { body, end }: Block): Block | undefined {
  for (const value of body) state.bits[value] = execute(state, value);
  state.steps += body.length + 1;
  if (end.op === 'ret') return undefined;
  return follow(state, end.op === 'br' ? end.to : state.bits[end.cond] === 1n ? end.then : end.else);
}

/** All arguments are read before any parameter is set. */
function follow(state: State, { block, args }: Edge): Block {
  const brought = args.map((value) => state.bits[value]!);
  block.params.forEach((param, i) => {
    state.bits[param] = brought[i]!;
  });
  return block;
}

function execute(state: State, value: Value): bigint {
  const inst = state.kernel.insts[value]!;
  if (!isEvaluableInst(inst)) return execRule(state, inst);
  const operands = operandsOf(inst);
  return evalOp(
    inst,
    operands.map((operand) => state.bits[operand]!),
    operands.map((operand) => state.kernel.insts[operand]!.type),
  );
}

function execRule(state: State, inst: Inst): bigint {
  switch (inst.op) {
    case 'param':
      return state.thread.params[inst.index] ?? fault(`parameter ${inst.index} is not given`);
    case 'variable':
      return state.thread.variables[inst.name] ?? fault(`the variable ${inst.name} has no place`);
    case 'sreg':
      return BigInt(state.thread.sregs[inst.name] ?? fault(`${inst.name} is not given`));
    case 'load':
      return read(windowOf(state, inst.addr, bytesOf(inst.type)));
    case 'store':
      return store(state, inst);
    case 'atomic':
      return exchange(state, inst, (old) => replaced(state.kernel, inst, old, state.bits[inst.b]!));
    case 'cas':
      return exchange(state, inst, (old) => (old === state.bits[inst.b] ? state.bits[inst.c]! : old));
    case 'fence':
    case 'barrier':
    case 'syncwarp':
    case 'warpsync':
    case 'yield':
    case 'members':
    case 'mark':
    case 'within':
    case 'addressable':
    case 'aligned':
    case 'guard':
      return 0n;
    case 'shuffle':
    case 'reduce':
    case 'shufflesync':
    case 'reducesync':
      return state.bits[inst.a]!;
    case 'ballot':
    case 'ballotsync':
      return state.bits[inst.a]! << BigInt(state.thread.sregs.laneid ?? 0);
    default:
      return fault(`${inst.op} cannot be run`);
  }
}

function store(state: State, inst: InstOf<'store'>): bigint {
  const window = windowOf(state, inst.addr, bytesOf(state.kernel.insts[inst.value]!.type));
  write(window, state.bits[inst.value]!);
  return 0n;
}

function write(window: Uint8Array, bits: bigint): void {
  let rest = bits;
  for (let i = 0; i < window.length; i++, rest >>= 8n) window[i] = Number(rest & 0xffn);
}

/** Reads a value, writes the one that follows from it, and returns the old one. */
function exchange(state: State, inst: InstOf<'atomic'> | InstOf<'cas'>, next: (old: bigint) => bigint): bigint {
  const window = windowOf(state, inst.a, bytesOf(inst.type));
  const old = read(window);
  write(window, next(old));
  return old;
}

/** The value that an atomic leaves behind. */
function replaced(kernel: Kernel, inst: InstOf<'atomic'>, old: bigint, operand: bigint): bigint {
  const { rmw, type } = inst;
  switch (rmw) {
    case 'exch':
      return operand;
    case 'inc':
      return old >= operand ? 0n : old + 1n;
    case 'dec':
      return old === 0n || old > operand ? operand : old - 1n;
    default: {
      const flush = flushesSubnormals(kernel, inst) ? flushSingle : (bits: bigint) => bits;
      // The operands are placeholders: `evalOp` takes their bits as an argument.
      const op = { op: rmw, type, a: 0, b: 1 } as unknown as InstOf<PureOp>;
      return flush(evalOp(op, [flush(old), flush(operand)], [type, type]));
    }
  }
}

/** A subnormal f32 becomes a zero of its sign. */
const flushSingle = (bits: bigint): bigint => ((bits & 0x7f80_0000n) === 0n ? bits & 0x8000_0000n : bits);

const read = (window: Uint8Array): bigint => window.reduceRight((rest, byte) => (rest << 8n) | BigInt(byte), 0n);

function windowOf(state: State, address: Value, size: number): Uint8Array {
  const type = state.kernel.insts[address]!.type;
  const space = isPointer(type) ? spaceOf(type) : fault(`an access through ${type}`);
  const bytes = state.thread.memory[space] ?? fault(`there is no ${space} memory`);
  const start = isWide(state.kernel, address) ? state.bits[address]! : BigInt.asUintN(32, state.bits[address]!);
  if (start + BigInt(size) > BigInt(bytes.length)) return fault(`${size} bytes at ${start} of ${space} memory`);
  return bytes.subarray(Number(start), Number(start) + size);
}

function fault(why: string): never {
  throw new Fault(why);
}
