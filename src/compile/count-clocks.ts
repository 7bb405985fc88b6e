/**
 * A stand-in for the clocks of targets that have none (`--allow-fallback clock`): each thread counts its own readings, 1 at the first, so that
 * time passes and a loop that waits for it ends, but nothing is measured.
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import { builder, type Kernel, type Value } from '../ir/index.ts';

const isClock = (kernel: Kernel, value: Value): boolean => kernel.insts[value]!.op === 'clock';

/** Reports CM2061 at the first clock of a kernel. */
export function noteClocks(kernel: Kernel, diagnostics: Diagnostics): void {
  for (const { body } of kernel.blocks) {
    const first = body.find((value) => isClock(kernel, value));
    if (first === undefined) continue;
    const span = kernel.locs[first];
    return diagnostics.report('CM2061', { kernel: kernel.name }, span ? { span } : {});
  }
}

/** A name that no variable of the kernel has. */
function freeName(kernel: Kernel): string {
  const taken = new Set(kernel.variables.map(({ name }) => name));
  let name = 'clock';
  for (let n = 1; taken.has(name); n++) name = `clock.${n}`;
  return name;
}

/** Replaces the clocks of a kernel by a counter in local memory, which the promotion of local variables takes out of memory. Whether there were any. */
export function countClocks(kernel: Kernel): boolean {
  if (!kernel.blocks.some(({ body }) => body.some((value) => isClock(kernel, value)))) return false;
  const name = freeName(kernel);
  kernel.variables.push({ name, space: 'local', size: 8, align: 8, isDynamic: false, init: undefined, element: undefined });
  const access = { align: 8, volatile: false };
  for (const block of kernel.blocks) {
    const old = block.body;
    block.body = [];
    const ir = builder(kernel, block);
    if (block === kernel.blocks[0]) ir.store(ir.variable('ptr.local', { name }), ir.const('i64', 0), access);
    for (const value of old) {
      if (!isClock(kernel, value)) {
        block.body.push(value);
        continue;
      }
      ir.loc = kernel.locs[value];
      const pointer = ir.variable('ptr.local', { name });
      const [before, one] = [ir.load('i64', pointer, access), ir.const('i64', 1)];
      // The reading itself becomes the sum, so that its uses stay.
      kernel.insts[value] = { op: 'add', type: 'i64', a: before, b: one };
      block.body.push(value);
      ir.store(pointer, value, access);
    }
  }
  return true;
}
