/**
 * Memory that a thread reads twice, or reads after it wrote it, and that nothing may have changed in between: the second load is the value of the first
 * access. Between them there is no store, atomic, barrier, fence or exchange, and control has come one way only. Volatile accesses stay.
 */
import { cfgOf } from '../analysis/cfg.ts';
import { dominatorsOf } from '../analysis/dominators.ts';
import type { Inst, Kernel, Value } from '../kernel.ts';
import { specOf } from '../ops.ts';
import { walkTree } from './cse.ts';
import { replaceAll, type Substitution, substitution } from './substitution.ts';

/** What memory holds, by space, address and type. */
type Known = Map<string, Value>;

/** Merges such loads in place; returns whether there were any. */
export function mergeLoads(kernel: Kernel): boolean {
  const cfg = cfgOf(kernel);
  const s = substitution();
  const atEnd: Known[] = [];
  walkTree(dominatorsOf(cfg), (id) => {
    const from = cfg.predecessors[id]!;
    // Where control comes together, another way may have written.
    const known: Known = new Map(from.length === 1 ? atEnd[from[0]!] : []);
    for (const value of kernel.blocks[id]!.body) visit(kernel, value, known, s);
    atEnd[id] = known;
    return () => {};
  });
  replaceAll(kernel, s);
  return s.count() > 0;
}

function visit(kernel: Kernel, value: Value, known: Known, s: Substitution): void {
  const inst = kernel.insts[value]!;
  if (inst.op === 'load' && !inst.volatile) {
    const key = keyOf(kernel, inst.addr, inst.type);
    const earlier = known.get(key);
    if (earlier !== undefined) s.replace(value, earlier);
    else known.set(key, value);
    return;
  }
  if (!changesMemory(inst)) return;
  known.clear();
  if (inst.op === 'store' && !inst.volatile) known.set(keyOf(kernel, inst.addr, kernel.insts[inst.value]!.type), inst.value);
}

const changesMemory = (inst: Inst): boolean => inst.op === 'load' || !['pure', 'reads'].includes(specOf(inst.op).effect);

/** An address is a pointer and a constant distance from it. */
function keyOf(kernel: Kernel, addr: Value, type: string): string {
  const inst = kernel.insts[addr]!;
  const offset = inst.op === 'ptradd' ? kernel.insts[inst.b]! : undefined;
  return inst.op === 'ptradd' && offset?.op === 'const' ? `${inst.a} ${offset.bits} ${type}` : `${addr} 0 ${type}`;
}
