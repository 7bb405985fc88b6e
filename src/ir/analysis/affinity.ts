/**
 * Affinity: which values are, in the lanes of a lane group, a uniform number plus the lane times a constant stride. Addresses of `a[i]` are
 * affine where i counts threads, so that consecutive accesses are known when the kernel is compiled.
 */
import { constantOf, edgesOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { bitsOf, isPointer } from '../types.ts';
import type { Cfg } from './cfg.ts';
import type { Uniformity } from './uniformity.ts';

export interface Affinity {
  /** By value. */
  readonly shape: Uint8Array;
  /** By value of shape 1: its stride from lane to lane, modulo 2^32. */
  readonly stride: Int32Array;
}

/** The facts that the caller provides. */
export interface AffinitySources {
  /** The stride of a value from nowhere (a special register, a variable) that is not uniform; nothing where it has none. */
  stride(inst: Inst): number | undefined;
  /** By how much the window of a space moves from lane to lane. */
  window(space: string): number;
  /** Whether a value is held in 32 bits, so that it may wrap as its words do. */
  isWord(value: Value): boolean;
}

const unknown = undefined;
type State = number | 'varying' | undefined;

/** The shape of every value, given which ones are uniform: those whose variance is below 2. Values sink, so this ends. */
export function affinityOf(kernel: Kernel, cfg: Cfg, { variance, mixed, leavesUnequally }: Uniformity, sources: AffinitySources): Affinity {
  const states: State[] = kernel.insts.map((_, value) => (variance[value]! < 2 ? 0 : unknown));
  for (let changed = true; changed; ) {
    changed = false;
    const set = (value: Value, state: State): void => {
      if (variance[value]! < 2 || states[value] === state || states[value] === 'varying') return;
      states[value] = state;
      changed = true;
    };
    for (const id of cfg.order) {
      const block = kernel.blocks[id]!;
      for (const value of block.body) set(value, sources.isWord(value) ? strideOf(kernel, value, states, sources) : 'varying');
      for (const { block: to, args } of edgesOf(block.end))
        for (const [i, arg] of args.entries()) {
          const param = to.params[i]!;
          const differs = mixed[param] || leavesUnequally(arg, to.id) || !sources.isWord(param);
          set(param, differs ? 'varying' : joined(states[param], states[arg]));
        }
    }
  }
  const shape = Uint8Array.from(states, (state, value) => (variance[value]! < 2 ? 0 : typeof state === 'number' ? 1 : 2));
  return { shape, stride: Int32Array.from(states, (state) => (typeof state === 'number' ? state : 0)) };
}

const joined = (before: State, brought: State): State =>
  before === unknown || before === brought ? brought : brought === unknown ? before : 'varying';

function strideOf(kernel: Kernel, value: Value, states: readonly State[], sources: AffinitySources): State {
  const inst = kernel.insts[value]!;
  switch (inst.op) {
    case 'sreg':
    case 'variable':
      return sources.stride(inst) ?? 'varying';
    case 'add':
    case 'ptradd':
      return both(states[inst.a], states[inst.b], (a, b) => (a + b) | 0);
    case 'sub':
      return both(states[inst.a], states[inst.b], (a, b) => (a - b) | 0);
    case 'mul':
      return product(states[inst.a], states[inst.b], wordOf(kernel, inst.a), wordOf(kernel, inst.b));
    case 'shl': {
      const count = wordOf(kernel, inst.b);
      return count !== undefined && count >= 0 && count < 32 ? scaled(states[inst.a], 1 << count) : 'varying';
    }
    case 'ptrtoint':
      return both(states[inst.a], -windowOf(kernel, inst.a, sources), (a, b) => (a + b) | 0);
    case 'inttoptr':
      return both(states[inst.a], windowOf(kernel, value, sources), (a, b) => (a + b) | 0);
    case 'select':
      return states[inst.cond] === 0 ? joined(states[inst.a], states[inst.b]) : 'varying';
    default:
      return 'varying';
  }
}

function both(a: State, b: State, join: (a: number, b: number) => number): State {
  if (a === 'varying' || b === 'varying') return 'varying';
  return a === unknown || b === unknown ? unknown : join(a, b);
}

/** A stride times a number that is not known when code is made is none. */
function product(a: State, b: State, aConstant: number | undefined, bConstant: number | undefined): State {
  if (bConstant !== undefined) return scaled(a, bConstant);
  if (aConstant !== undefined) return scaled(b, aConstant);
  return a === unknown || b === unknown ? unknown : 'varying';
}

const scaled = (state: State, factor: number): State => (typeof state === 'number' ? Math.imul(state, factor) : state);

/** A constant of up to 32 bits as a signed number. */
function wordOf(kernel: Kernel, value: Value): number | undefined {
  const bits = bitsOf(kernel.insts[value]!.type) <= 32 ? constantOf(kernel, value) : undefined;
  return bits === undefined ? undefined : Number(bits) | 0;
}

function windowOf(kernel: Kernel, value: Value, sources: AffinitySources): number {
  const { type } = kernel.insts[value]!;
  return isPointer(type) ? sources.window(type.slice('ptr.'.length)) : 0;
}
