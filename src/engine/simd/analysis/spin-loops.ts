/** Loops that may wait for other threads: strips, whose lanes go on together, would wait in them for ever. */
import { edgesOf, type Inst, type Kernel, type Loop, operandsOf, type Value } from '../../../ir/index.ts';

/** What others are meant to change. */
const isOfOthers = (inst: Inst, _: Value): boolean => inst.op === 'atomic' || inst.op === 'cas' || (inst.op === 'load' && inst.volatile);

/** Whether what a loop branches on may be what another lane does: lanes that go on together could wait for each other for ever. */
export function isSpinLoop(kernel: Kernel, loop: Loop, isSource = isOfOthers): boolean {
  const { blocks } = loop;
  if (triesAgain(kernel, loop)) return false;
  const tainted = new Set<Value>();
  for (let before = -1; before < tainted.size; ) {
    before = tainted.size;
    for (const id of blocks) {
      const { body, end } = kernel.blocks[id]!;
      for (const value of body) {
        const inst = kernel.insts[value]!;
        if (isSource(inst, value) || operandsOf(inst).some((operand) => tainted.has(operand))) tainted.add(value);
      }
      for (const edge of end.op === 'br' ? [end.to] : end.op === 'condbr' ? [end.then, end.else] : [])
        edge.args.forEach((arg, i) => {
          if (tainted.has(arg)) tainted.add(edge.block.params[i]!);
        });
    }
  }
  return blocks.some((id) => {
    const { end } = kernel.blocks[id]!;
    return end.op === 'condbr' && tainted.has(end.cond);
  });
}

/**
 * Whether a loop only goes on where an exchange failed that compares with what was read last: another thread's succeeded then, so that
 * somebody always gets on. With what is the same at every turn it would be a lock, which another thread has to give back.
 */
function triesAgain(kernel: Kernel, { header, latches, blocks }: Loop): boolean {
  const inLoop = new Set(blocks.flatMap((id) => [...kernel.blocks[id]!.params, ...kernel.blocks[id]!.body]));
  /** Whether a value is worked out of what is read at each turn at an address. */
  const follows = (value: Value, addr: Value, seen: Set<Value>): boolean => {
    if (!inLoop.has(value) || seen.has(value)) return false;
    seen.add(value);
    const inst = kernel.insts[value]!;
    if (inst.op === 'cas' || inst.op === 'load') return (inst.op === 'cas' ? inst.a : inst.addr) === addr;
    const param = kernel.blocks[header]!.params.indexOf(value);
    if (param >= 0) return comingBack().every((args) => follows(args[param]!, addr, seen));
    return operandsOf(inst).some((operand) => follows(operand, addr, seen));
  };
  const comingBack = (): (readonly Value[])[] =>
    latches.flatMap((id) => edgesOf(kernel.blocks[id]!.end).flatMap((edge) => (edge.block.id === header ? [edge.args] : [])));
  /** Whether a condition that is `holds` says that an exchange failed. */
  const saysFailed = (cond: Value, holds: boolean): boolean => {
    const inst = kernel.insts[cond]!;
    if (inst.op === (holds ? 'and' : 'or')) return saysFailed(inst.a, holds) || saysFailed(inst.b, holds);
    if (inst.op !== 'icmp' || inst.pred !== (holds ? 'ne' : 'eq')) return false;
    return isExchange(inst.a, inst.b) || isExchange(inst.b, inst.a);
  };
  const isExchange = (before: Value, expected: Value): boolean => {
    const inst = kernel.insts[before]!;
    return inst.op === 'cas' && inLoop.has(before) && inst.b === expected && follows(expected, inst.a, new Set());
  };
  /** Whether what comes from one block to another comes by way of such a condition, back to where paths meet. */
  const comesFailed = (from: number, to: number): boolean => {
    const { end } = kernel.blocks[from]!;
    const isChoice = end.op === 'condbr' && end.then.block.id !== end.else.block.id;
    if (isChoice && saysFailed(end.cond, end.then.block.id === to)) return true;
    const before = blocks.filter((id) => edgesOf(kernel.blocks[id]!.end).some((edge) => edge.block.id === from));
    return from !== header && before.length === 1 && comesFailed(before[0]!, from);
  };
  return latches.every((id) => comesFailed(id, header));
}
