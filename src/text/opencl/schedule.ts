/** The scheduler of a kernel whose barriers and warp operations are in divergent code: a loop of rounds, in each of which every thread takes part. */
import { type Collective as CollectiveStep, type Regions, type Rendezvous, syncPointsOf } from '../../engine/index.ts';
import type { Block, Edge, Inst, MaskedInst, Value } from '../../ir/index.ts';
import type { Body, Part } from '../body.ts';
import type { Printer } from '../language.ts';
import { writeIdle } from './suspend.ts';
import { barrierLine, type Collective, intoCell, kindOf, publishedBy, writeResult } from './warps.ts';

/** States of threads; those of regions and collectives are numbers below. */
const flags = { yielded: 0x1000_0000, barrier: 0x4000_0000 } as const;
const exited = '0xffffffff';
const hex = (n: number): string => `0x${n.toString(16)}`;

export interface Scheduled {
  readonly p: Printer;
  readonly body: () => Body;
  readonly regions: Regions;
  /** By region number: its part. */
  readonly parts: ReadonlyMap<number, Part>;
  /** Whether a block that waits for others leaves the kernel (`suspend.ts`). */
  readonly suspends: boolean;
}

/** Operands that are exchanged at once. */
export const slotsOf = ({ collectives }: Regions): number => Math.max(1, ...collectives.map(({ values }) => values.length));

/** Sets the state in which a thread leaves a region, and publishes what it brings. */
export function writeLeave({ p, body, regions }: Scheduled, block: Block, edge: Edge | undefined): void {
  const { lines, kernel } = p;
  if (edge) {
    body().transfer(edge);
    lines.add(`state = ${regions.byEntry.get(edge.block.id)!.id};`);
    return;
  }
  const points = syncPointsOf(kernel, block);
  const inst = kernel.insts[points[0]!]!;
  const to = block.end.op === 'br' ? regions.byEntry.get(block.end.to.block.id)!.id : 0;
  const arrives = (state: string): void => {
    // What the block behind a sync point is passed is set here: it has no other way in.
    if (block.end.op === 'br') body().transfer(block.end.to);
    lines.add(`state = ${state};`);
  };
  if (inst.op === 'barrier') return arrives(hex(flags.barrier + to));
  if (inst.op === 'yield') return arrives(hex(flags.yielded + to));
  points.forEach((value, slot) => {
    for (const published of publishedBy(kernel.insts[value]!))
      lines.add(`cells[${slot}][thread_number] = ${intoCell(p.typeOf(published), p.use(published))};`);
  });
  const rendezvous = regions.rendezvous.find(({ value }) => value === points[0]);
  if (rendezvous) {
    lines.add(`masks[thread_number] = ${p.use((inst as MaskedInst).members).text};`);
    lines.add(`kinds[thread_number] = ${kindOf(inst as MaskedInst)};`);
    lines.add(`state = ${rendezvous.id};`);
  } else lines.add(`state = ${regions.byBlock.get(block.id)!.id};`);
}

/** Writes the rounds. */
export function writeRounds(s: Scheduled): void {
  const { p, regions, suspends } = s;
  const { lines } = p;
  const hasMasks = regions.rendezvous.length > 0;
  const first = regions.list.length + regions.collectives.length;
  if (regions.hasYields) writeClear(s);
  lines.add('uint state = 0;');
  if (suspends) lines.add(resumeMark);
  if (suspends) lines.add('if (thread_number == 0) worked[0] = 0;');
  lines.add('if (thread_number == 0) moved[0] = alive[0] = stuck[0] = 0;');
  lines.add('for (uint round = 0;; round ^= 1) {');
  lines.indent(() => {
    lines.add('states[thread_number] = state;');
    lines.add(barrierLine);
    lines.add('if (thread_number == 0) moved[round ^ 1] = alive[round ^ 1] = stuck[round ^ 1] = 0;');
    if (suspends) lines.add('if (thread_number == 0) worked[round ^ 1] = 0;');
    lines.add(`if (state != ${exited}) alive[round] = 1;`);
    lines.add(`uint lowest = ${exited};`);
    lines.add('for (uint other = warp_first; other < warp_last; other++) lowest = min(lowest, states[other]);');
    if (hasMasks) writeMet(s, first);
    if (regions.hasYields || (hasMasks && regions.collectives.length > 0)) writeEarly(s);
    lines.add(`if (lowest < ${first}) {`);
    lines.indent(() => {
      lines.add('if (state == lowest) {');
      lines.indent(() => {
        lines.add('moved[round] = 1;');
        writeSteps(s);
        if (suspends) lines.add(`if ((state & 0xf0000000) != ${hex(flags.yielded)}) worked[round] = 1;`);
      });
      lines.add('}');
    });
    if (hasMasks) {
      lines.add(`} else if (isMet) {`);
      lines.indent(() => {
        lines.add(suspends ? 'moved[round] = worked[round] = 1;' : 'moved[round] = 1;');
        writeMeetings(s);
      });
    }
    if (regions.hasYields) {
      lines.add(`} else if ((state & 0xf0000000) == ${hex(flags.yielded)}) {`);
      lines.indent(() => {
        lines.add('moved[round] = 1;');
        lines.add('state &= 0x0fffffff;');
      });
    }
    lines.add(hasMasks ? `} else if (state >= ${first} && state < ${hex(flags.yielded)}) {` : '}');
    if (hasMasks) {
      lines.indent(() => lines.add('stuck[round] = 1;'));
      lines.add('}');
    }
    lines.add(barrierLine);
    if (suspends) writeIdle(p);
    lines.add('if (moved[round] != 0) continue;');
    lines.add(`if (alive[round] == 0) break;`);
    if (hasMasks) writeStuck(s, first);
    lines.add(`if (state != ${exited}) state &= ~${hex(flags.barrier)}u;`);
  });
  lines.add('}');
  if (suspends) lines.add(leftMark);
}

/** Ends the kernel where threads wait for threads that never come. */
function writeStuck({ p: { lines } }: Scheduled, first: number): void {
  lines.add('if (stuck[round] != 0) {');
  lines.indent(() => {
    lines.add(`if (state >= ${first} && state < ${hex(flags.yielded)} && atomic_cmpxchg(cumetal_status, 0, 1) == 0) {`);
    lines.indent(() => {
      lines.add('for (uint axis = 0; axis < 3; axis++) {');
      lines.indent(() => {
        lines.add('cumetal_status[1 + axis] = get_group_id(axis);');
        lines.add('cumetal_status[4 + axis] = get_local_id(axis);');
      });
      lines.add('}');
    });
    lines.add('}');
    lines.add('break;');
  });
  lines.add('}');
}

/** Lines in the place of which variables are loaded and kept, once all of them are known. */
export const [resumeMark, leftMark] = ['// resume', '// left'] as const;

/**
 * Sets static shared memory to 0 in a kernel that yields: barriers for some of the threads are words of it. The barrier of the first round follows.
 */
function writeClear({ p }: Scheduled): void {
  const size = p.addresses.windows.get('shared')?.size ?? 0;
  if (size === 0) return;
  p.lines.add(`for (uint at = thread_number; at < ${size}; at += (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)))`);
  p.lines.indent(() => p.lines.add(`((__local uchar *)shared_memory)[at] = 0;`));
}

/** The steps of regions and collectives, by state. */
function writeSteps(s: Scheduled): void {
  const { p, regions, parts, body } = s;
  const { lines } = p;
  const steps = [
    ...regions.list.map((region) => ({ id: region.id, write: () => body().write(parts.get(region.id)!) })),
    ...regions.collectives.map((collective) => ({ id: collective.id, write: () => writeCollective(s, collective) })),
  ].sort((a, b) => a.id - b.id);
  lines.add('switch (state) {');
  for (const { id, write } of steps) {
    lines.add(`case ${id}: {`);
    lines.indent(() => {
      write();
      lines.add('break;');
    });
    lines.add('}');
  }
  lines.add('}');
}

function writeCollective({ p, regions, body }: Scheduled, { block, values, to, id }: CollectiveStep): void {
  const { kernel, lines } = p;
  values.forEach((value, slot) => {
    const inst = kernel.insts[value]!;
    if (inst.op === 'syncwarp') return;
    writeResult(p, inst as Collective, value, { slot, takesPart: `states[other] == ${id}` });
  });
  const { end } = kernel.blocks[block]!;
  if (end.op === 'br') body().transfer(end.to);
  lines.add(`state = ${regions.byEntry.get(to)!.id};`);
}

/** Sets `isMet` to whether all live threads of the thread's mask wait with the same mask and kind. */
function writeMet({ p }: Scheduled, first: number): void {
  const { lines } = p;
  const waiting = (state: string): string => `${state} >= ${first} && ${state} < ${hex(flags.yielded)}`;
  lines.add('bool isMet = false;');
  lines.add('uint named = 0;');
  lines.add(`if (${waiting('state')}) {`);
  lines.indent(() => {
    lines.add('const uint mask = masks[thread_number];');
    lines.add('isMet = (mask >> (thread_number & 31) & 1) != 0;');
    lines.add('for (uint other = warp_first; other < warp_last; other++) {');
    lines.indent(() => {
      lines.add(`if ((mask >> (other & 31) & 1) == 0 || states[other] == ${exited}) continue;`);
      lines.add('named |= 1u << (other & 31);');
      lines.add(`isMet = isMet && ${waiting('states[other]')} && masks[other] == mask && kinds[other] == kinds[thread_number];`);
    });
    lines.add('}');
  });
  lines.add('}');
}

/** A collective of the threads that are together waits for those of the warp that have yielded at an earlier place, or that meet now. */
function writeEarly({ p, regions }: Scheduled): void {
  const { lines } = p;
  const { collectives, list, rendezvous } = regions;
  if (collectives.length === 0) return;
  const first = list.length + collectives.length;
  lines.add(`if (${collectives.map(({ id }) => `lowest == ${id}`).join(' || ')}) {`);
  lines.indent(() => {
    lines.add('for (uint other = warp_first; other < warp_last; other++) {');
    lines.indent(() => {
      if (regions.hasYields)
        lines.add(
          `if ((states[other] & 0xf0000000) == ${hex(flags.yielded)} && (states[other] & 0x0fffffff) < lowest) lowest = ${exited};`,
        );
      if (rendezvous.length > 0) {
        lines.add(`if (states[other] < ${first} || states[other] >= ${hex(flags.yielded)}) continue;`);
        lines.add('bool isComplete = (masks[other] >> (other & 31) & 1) != 0;');
        lines.add('for (uint third = warp_first; third < warp_last; third++)');
        lines.indent(() =>
          lines.add(
            `if ((masks[other] >> (third & 31) & 1) != 0 && states[third] != ${exited}) isComplete = isComplete && states[third] >= ${first} && states[third] < ${hex(flags.yielded)} && masks[third] == masks[other] && kinds[third] == kinds[other];`,
          ),
        );
        lines.add(`if (isComplete) lowest = ${exited};`);
      }
    });
    lines.add('}');
  });
  lines.add('}');
}

function writeMeetings(s: Scheduled): void {
  const { p, regions } = s;
  const { lines, kernel } = p;
  lines.add('switch (state) {');
  for (const rendezvous of regions.rendezvous) {
    lines.add(`case ${rendezvous.id}: {`);
    lines.indent(() => {
      writeMeeting(s, rendezvous, kernel.insts[rendezvous.value]!);
      lines.add('break;');
    });
    lines.add('}');
  }
  lines.add('}');
}

function writeMeeting({ p, regions, body }: Scheduled, { block, value }: Rendezvous, inst: Inst): void {
  writeResult(p, inst as MaskedInst, value, { slot: 0, takesPart: '(named >> (other & 31) & 1) != 0' });
  const { end } = p.kernel.blocks[block]!;
  if (end.op !== 'br') return;
  body().transfer(end.to);
  p.lines.add(`state = ${regions.byEntry.get(end.to.block.id)!.id};`);
}

/** Whether the values of sync points are written by the scheduler. */
export const isPoint = (values: ReadonlySet<Value>, value: Value): boolean => values.has(value);
