/**
 * Atomics and volatile accesses of 64 bits in WGSL, whose atomics have 32 bits. Where the halves of a word cannot be updated one after the other, the
 * threads of a block take turns: an access is a region of its own between two yields, in which the scheduler lets one thread of the block be at a
 * time. Nothing else sees the word then if the block runs without the others.
 */
import { replacement, strongAccesses, type WideAtomic, wideForms } from '../../air/index.ts';
import { type Builder, builder, type Inst, type InstOf, type Kernel, type Value } from '../../ir/index.ts';

/** The yields at which turns start, and whether one of them is for global memory, so that blocks run one after the other. */
export interface Turns {
  readonly yields: ReadonlySet<Value>;
  readonly ofGlobal: boolean;
}

/** Puts each access of 64 bits that has to be atomic between two yields, in place. */
export function takeTurns(kernel: Kernel): Turns {
  const yields = new Set<Value>();
  const taking = new Set<Value>();
  let ofGlobal = false;
  const forms = wideForms(kernel);
  for (const space of ['ptr.global', 'ptr.shared'] as const) {
    const strong = strongAccesses(kernel, space);
    if (strong.every((value) => forms.get(value) === 'halves')) continue;
    ofGlobal ||= space === 'ptr.global';
    for (const value of strong) taking.add(value);
  }
  if (taking.size === 0) return { yields, ofGlobal };
  for (const block of kernel.blocks) {
    const { body } = block;
    if (!body.some((value) => taking.has(value))) continue;
    block.body = [];
    const b = builder(kernel, block);
    for (const value of body) {
      if (!taking.has(value)) {
        block.body.push(value);
        continue;
      }
      b.loc = kernel.locs[value];
      b.yield();
      yields.add(block.body.at(-1)!);
      writeAccess(kernel, b, value);
      b.yield();
    }
  }
  return { yields, ofGlobal };
}

/** Writes an access as what a thread does while no other one is there; the old value of an atomic keeps its number. */
function writeAccess(kernel: Kernel, b: Builder, value: Value): void {
  const inst = kernel.insts[value]!;
  if (!isAtomic(inst)) {
    b.block.body.push(value);
    return;
  }
  const { a: addr, type } = inst;
  const access = { align: 8, volatile: true } as const;
  // A load of the atomic's own type, as the bits that a replacement is computed of.
  kernel.insts[value] = { op: 'load', type, addr, ...access } as InstOf<'load'>;
  b.block.body.push(value);
  const before = type === 'i64' ? value : b.bitcast('i64', value);
  const after = replacement(b, inst, before);
  b.store(addr, type === 'i64' ? after : b.bitcast(type, after), access);
}

const isAtomic = (inst: Inst): inst is WideAtomic => inst.op === 'atomic' || inst.op === 'cas';
