/**
 * Checks of member masks, for targets whose collectives have none: where lanes may have diverged, a thread stops the kernel if its mask
 * names an existing lane that does not execute the collective with it. A lane that has exited cannot be told from one that is late.
 */
import type { SourceFile } from '../base/source.ts';
import { type Block, type Builder, builder, type EndStuck, isMasked, type Kernel, splitBlock, type Value } from '../ir/index.ts';
import { faultNumber } from './faults.ts';

/** Puts a check before each of these collectives, in place; those of one instruction of the source share one. */
export function checkMasks(kernel: Kernel, masked: readonly Value[], file: SourceFile | undefined): void {
  const wanted = new Set(masked);
  for (let at = 0; at < kernel.blocks.length; at++) checkFirst(kernel, kernel.blocks[at]!, wanted, file);
}

/** Checks the first collective of a block, and moves what is behind the check to a block that is visited later. */
function checkFirst(kernel: Kernel, block: Block, wanted: Set<Value>, file: SourceFile | undefined): void {
  const index = block.body.findIndex((value) => wanted.has(value));
  if (index < 0) return;
  const value = block.body[index]!;
  const inst = kernel.insts[value]!;
  if (!isMasked(inst)) return;
  const span = kernel.locs[value];
  for (const each of block.body.slice(index)) {
    const other = kernel.insts[each]!;
    if (isMasked(other) && other.members === inst.members && kernel.locs[each] === span) wanted.delete(each);
  }
  const rest = splitBlock(kernel, block, index);
  const b = builder(kernel, block);
  b.loc = span;
  const word = (bits: number): Value => b.const('i32', bits);
  const axes = (['x', 'y', 'z'] as const).map((axis) => b.sreg('i32', { name: `ntid.${axis}` })) as [Value, Value, Value];
  const threads = b.mul(b.mul(axes[0], axes[1]), axes[2]);
  const first = b.sub(b.sreg('i32', { name: 'tid.linear' }), b.sreg('i32', { name: 'laneid' }));
  const existing = b.sub(b.shl(word(1), b.sub(threads, first)), word(1));
  const absent = b.xor(b.ballot('i32', b.const('i1', 1)), word(-1));
  const missing = b.and(b.and(inst.members, existing), absent);
  const cond = b.icmp(missing, word(0), { pred: 'ne' });
  const stop = splitBlock(kernel, block, block.body.length);
  const s = builder(kernel, stop);
  s.loc = span;
  stopKernel(s, textOf(file, span));
  stop.end = { op: 'ret' };
  block.end = { op: 'condbr', cond, then: { block: stop, args: [] }, else: { block: rest, args: [] } };
}

/** Stops a kernel whose thread waits for threads of its mask that never come, in a block that ends the thread. */
export const endStuckAt =
  (file: SourceFile | undefined): EndStuck =>
  (b, value) => {
    const { kernel } = b;
    const span = kernel.locs[value];
    b.loc = span;
    stopKernel(b, `a thread waits at \`${collectiveAt(file, span)}\` for lanes of its mask that never come${placeIn(file, span)}`);
  };

/** Writes the number of a fault to the fault word. */
function stopKernel(b: Builder, why: string): void {
  const { index, number } = faultNumber(b.kernel, why);
  b.store(b.param('ptr.global', { index }), b.const('i32', number), { align: 4, volatile: false });
}

/** The opcode of a collective at a place of the source, behind a guard. */
export const collectiveAt = (file: SourceFile | undefined, span: Kernel['locs'][number]): string =>
  (file && span && /^(?:@!?\S+\s+)?([\w.:]+)/.exec(file.text.slice(span.start, span.end))?.[1]) ?? 'a collective';

function textOf(file: SourceFile | undefined, span: Kernel['locs'][number]): string {
  return `the mask of \`${collectiveAt(file, span)}\` names lanes that do not execute it together${placeIn(file, span)}`;
}

const placeIn = (file: SourceFile | undefined, span: Kernel['locs'][number]): string =>
  file && span ? ` (${file.path}:${file.position(span.start).line})` : '';
