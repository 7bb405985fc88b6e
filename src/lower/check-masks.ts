/**
 * Checks of member masks, for targets whose collectives have none: where lanes may have diverged, a thread stops the kernel if its mask
 * names an existing lane that does not execute the collective with it. A lane that has exited cannot be told from one that is late.
 */
import type { SourceFile } from '../base/source.ts';
import {
  type Block,
  type Builder,
  builder,
  constantOf,
  type EndStuck,
  isMasked,
  type Kernel,
  splitBlock,
  type Value,
} from '../ir/index.ts';
import { faultNumber } from './faults.ts';

/** The collectives of a block that are to be checked, in order, and where they are in its body. */
interface Collectives {
  readonly values: readonly Value[];
  readonly at: readonly number[];
  /** The number of the first that has no check. */
  next: number;
  /** How much of the body is in front of the block that is behind the last check. */
  start: number;
}

/**
 * Puts a check before each of these collectives, in place. Those of one block share one where it has all of their lanes: lanes that
 * meet at a place of straight code are together to its end.
 */
export function checkMasks(kernel: Kernel, masked: readonly Value[], file: SourceFile | undefined): void {
  const wanted = new Set(masked);
  const found = new Map(kernel.blocks.map((block) => [block, collectivesOf(block, wanted)]));
  for (let at = 0; at < kernel.blocks.length; at++) {
    const block = kernel.blocks[at]!;
    const collectives = found.get(block);
    const rest = collectives && checkFirst(kernel, block, collectives, wanted, file);
    if (rest) found.set(rest, collectives);
  }
}

function collectivesOf({ body }: Block, wanted: ReadonlySet<Value>): Collectives {
  const [values, at]: [Value[], number[]] = [[], []];
  for (const [i, value] of body.entries()) {
    if (!wanted.has(value)) continue;
    values.push(value);
    at.push(i);
  }
  return { values, at, next: 0, start: 0 };
}

/** Checks the first collective of a block, and moves what is behind the check to a block that is visited later; returns that block. */
function checkFirst(kernel: Kernel, block: Block, found: Collectives, wanted: Set<Value>, file: SourceFile | undefined): Block | undefined {
  const { values, at } = found;
  while (found.next < values.length && !wanted.has(values[found.next]!)) found.next++;
  const value = values[found.next];
  if (value === undefined) return undefined;
  const index = at[found.next]! - found.start;
  const inst = kernel.insts[value]!;
  if (!isMasked(inst)) return undefined;
  const span = kernel.locs[value];
  for (const each of values.slice(found.next)) {
    const other = kernel.insts[each]!;
    if (isMasked(other) && isWithin(kernel, other.members, inst.members)) wanted.delete(each);
  }
  found.start += index;
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
  return rest;
}

/** Whether a mask is known to have no lane that another one has not. */
function isWithin(kernel: Kernel, mask: Value, whole: Value): boolean {
  const lanes = constantOf(kernel, whole);
  return mask === whole || lanes === 0xffff_ffffn || (lanes !== undefined && constantOf(kernel, mask) === lanes);
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
