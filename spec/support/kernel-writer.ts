/** A concise writer of IR kernels for specs: words in memory, branches and loops without explicit blocks. */
import {
  addBlock,
  addBlockParam,
  type Block,
  type Builder,
  builder,
  emptyKernel,
  type IcmpPredicate,
  type Kernel,
  type KernelParam,
  type Sreg,
  type Value,
  type Variable,
} from '../../src/ir/index.ts';

export const plain = { align: 4, volatile: false };

export interface Writer {
  readonly b: Builder;
  readonly kernel: Kernel;
  i32(value: number): Value;
  sreg(name: Sreg): Value;
  param(index: number): Value;
  shared(name: string): Value;
  /** The address of the word at an index. */
  at(base: Value, index: Value): Value;
  get(base: Value, index: Value): Value;
  put(base: Value, index: Value, value: Value): void;
  is(a: Value, pred: IcmpPredicate, b: Value): Value;
  /** An if-else. Both sides join afterwards, except a side that calls `leave`. */
  when(cond: Value, then: () => void, otherwise?: () => void): void;
  /** Exits the current threads. */
  leave(): void;
  /** A loop that carries words: continues while `test` is true, and returns the carried words. */
  repeat(first: readonly Value[], test: (...carried: Value[]) => Value, body: (...carried: Value[]) => readonly Value[]): Value[];
}

export const sharedVariable = (name: string, size: number, more: Partial<Variable> = {}): Variable => ({
  name,
  space: 'shared',
  size,
  align: 4,
  isDynamic: false,
  init: undefined,
  element: undefined,
  ...more,
});

/** A kernel with an empty first block and a last block that returns. */
export function writeKernel(
  name: string,
  params: readonly KernelParam[],
  variables: readonly Variable[],
  write: (w: Writer) => void,
): Kernel {
  const kernel = emptyKernel(name);
  kernel.params.push(...params);
  kernel.variables.push(...variables);
  write(writer(kernel));
  return kernel;
}

const jump = (block: Block, args: readonly Value[] = []) => ({ block, args: [...args] });

function writer(kernel: Kernel): Writer {
  const b = builder(kernel, addBlock(kernel));
  const left = new Set<Block>();
  const at = (base: Value, index: Value): Value => b.ptradd(base, b.mul(b.zext('i64', index), b.const('i64', 4)));
  const goOn = (to: Block): void => {
    if (!left.has(b.block)) b.block.end = { op: 'br', to: jump(to) };
  };
  return {
    b,
    kernel,
    i32: (value) => b.const('i32', value),
    sreg: (name) => b.sreg('i32', { name }),
    param: (index) => b.param('ptr.global', { index }),
    shared: (name) => b.variable('ptr.shared', { name }),
    at,
    get: (base, index) => b.load('i32', at(base, index), plain),
    put: (base, index, value) => void b.store(at(base, index), value, plain),
    is: (x, pred, y) => b.icmp(x, y, { pred }),
    when(cond, then, otherwise) {
      const [yes, no] = [addBlock(kernel), otherwise ? addBlock(kernel) : undefined];
      const after = addBlock(kernel);
      b.block.end = { op: 'condbr', cond, then: jump(yes), else: jump(no ?? after) };
      b.block = yes;
      then();
      goOn(after);
      if (no) {
        b.block = no;
        otherwise!();
        goOn(after);
      }
      b.block = after;
    },
    leave: () => void left.add(b.block),
    repeat(first, test, body) {
      const head = addBlock(kernel);
      b.block.end = { op: 'br', to: jump(head, first) };
      const carried = first.map((value) => addBlockParam(kernel, head, b.typeOf(value)));
      b.block = head;
      const cond = test(...carried);
      const [turn, after] = [addBlock(kernel), addBlock(kernel)];
      b.block.end = { op: 'condbr', cond, then: jump(turn), else: jump(after) };
      b.block = turn;
      const next = body(...carried);
      b.block.end = { op: 'br', to: jump(head, next) };
      b.block = after;
      return carried;
    },
  };
}
