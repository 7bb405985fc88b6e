/**
 * The scheduler of a kernel in WGSL, which every thread runs: in each round the threads of a warp with the lowest state go on, in the order of the
 * CPU device (`src/engine/scalar/schedule.ts`), as in OpenCL C.
 */
import type { Collective as CollectiveStep, Rendezvous } from '../../engine/index.ts';
import type { Inst, MaskedInst } from '../../ir/index.ts';
import type { Printer } from '../language.ts';
import type { Collective } from '../opencl/warps.ts';
import { writeWord } from './helpers/memory.ts';
import { barrier, exited, flags, hex, type Sync, writeResult } from './sync.ts';

/** Bits of the progress of a round: a thread went on, one is alive, one waits for others by a mask, one did other than let others run. */
const progress = { moved: 1, alive: 2, stuck: 4, worked: 8 } as const;

/**
 * Rounds in which the threads of a block that runs alone do nothing but wait, before it is stopped. A loop that counts to a million
 * while it waits ends before.
 */
const idleRounds = 1 << 16;

/** What a block is stopped for, in the first word of the status. */
export const stops = { mask: 1, otherBlock: 2 } as const;

type Waits = Pick<Sync, 'regions' | 'turns' | 'isAlone'>;

/** Whether the rounds are counted in which nothing but waiting is done: a turn is a wait that ends. */
const countsIdleRounds = ({ regions, turns, isAlone }: Waits): boolean => isAlone && regions.hasYields && turns.length === 0;

/** Whether a kernel may be stopped. */
export const mayStop = (waits: Waits): boolean => waits.regions.rendezvous.length > 0 || countsIdleRounds(waits);

/** Writes the rounds; `fail` reports what the block is stopped for. */
export function writeRounds(sync: Sync, fail: (stop: number) => void): void {
  const { p, regions, shared } = sync;
  const { lines } = p;
  const hasMasks = regions.rendezvous.length > 0;
  const countsIdle = countsIdleRounds(sync);
  const first = regions.list.length + regions.collectives.length;
  const states = shared('states');
  const now = shared('progress');
  const note = (bit: number): string => `atomicOr(&${now}[round], ${bit}u);`;
  const add = (text: string): void => lines.add(text);
  const leader = sync.threads === 1 ? 'thread_number' : 'index';
  writeClear(sync);
  if (sync.threads === 1) add('var state = 0u;');
  add('var round = 0u;');
  if (countsIdle) add('var idle = 0u;');
  add('loop {');
  lines.indent(() => {
    writeEach(sync, false, () => add(`${states}[thread_number] = state;`));
    add(barrier(p));
    add(`if (${leader} == 0u) { atomicStore(&${now}[round ^ 1u], 0u); }`);
    writeEach(sync, true, () => {
      add(`if (state != ${exited}) { ${note(progress.alive)} }`);
      add(`var lowest = ${exited};`);
      add(`for (var other = warp_first; other < warp_last; other++) { lowest = min(lowest, ${states}[other]); }`);
      if (hasMasks) writeMet(sync, first);
      if (regions.hasYields || (hasMasks && regions.collectives.length > 0)) writeEarly(sync);
      writeRound(sync, first, note, countsIdle);
    });
    add(barrier(p));
    add(`if (${leader} == 0u) { ${shared('progress_now')} = atomicLoad(&${now}[round]); }`);
    add(`let progress_of_round = workgroupUniformLoad(&${shared('progress_now')});`);
    add('round ^= 1u;');
    if (countsIdle) {
      add(`idle = select(idle + 1u, 0u, (progress_of_round & ${progress.worked}u) != 0u);`);
      add(`if (idle > ${idleRounds}u) {`);
      lines.indent(() => {
        writeEach(sync, false, () => {
          add(`if ((state & 0xf0000000u) == ${hex(flags.yielded)} || state < ${first}u) {`);
          lines.indent(() => fail(stops.otherBlock));
          add('}');
        });
        add('break;');
      });
      add('}');
    }
    add(`if ((progress_of_round & ${progress.moved}u) != 0u) { continue; }`);
    add(`if ((progress_of_round & ${progress.alive}u) == 0u) { break; }`);
    if (hasMasks) {
      add(`if ((progress_of_round & ${progress.stuck}u) != 0u) {`);
      lines.indent(() => {
        writeEach(sync, false, () => {
          add(`if (state >= ${first}u && state < ${hex(flags.yielded)}) {`);
          lines.indent(() => fail(stops.mask));
          add('}');
        });
        add('break;');
      });
      add('}');
    }
    writeEach(sync, false, () => add(`if (state != ${exited}) { state &= ~${hex(flags.barrier)}; }`));
  });
  add('}');
}

/**
 * Sets what the rounds count with to 0, and shared memory in a kernel that yields: barriers for some of the threads are words of it. WGSL does
 * so as well, but a device may have it switched off.
 */
function writeClear({ p, regions, threads, shared, sharedStore }: Sync): void {
  const leader = threads === 1 ? 'thread_number' : 'index';
  p.lines.add(`if (${leader} == 0u) {`);
  p.lines.indent(() => {
    for (const i of [0, 1]) p.lines.add(`atomicStore(&${shared('progress')}[${i}], 0u);`);
  });
  p.lines.add('}');
  const window = p.addresses.windows.get('shared');
  const size = window?.size ?? 0;
  if (!regions.hasYields || size === 0) return;
  const step = threads === 1 ? 'block_threads' : 'group_threads';
  p.lines.add(`for (var at = ${leader}; at < ${Math.ceil(size / 4)}u; at += ${step}) { ${writeWord(sharedStore, 'at', '0u')} }`);
}

/** Lines in the place of which the variables of a thread are read and written, when all of them are known. */
export const marks = { load: '// load', store: '// store', loadState: '// load the state', storeState: '// store the state' } as const;

/** Writes code for each thread of an invocation; `isWhole` with its variables, else with its state alone. */
function writeEach({ p, threads }: Sync, isWhole: boolean, write: () => void): void {
  const { lines } = p;
  if (threads === 1) return write();
  lines.add(`for (var part = 0u; part < ${threads}u; part++) {`);
  lines.indent(() => {
    lines.add('let thread_number = index + part * group_threads;');
    lines.add('if (thread_number < block_threads) {');
    lines.indent(() => {
      lines.add(isWhole ? marks.load : marks.loadState);
      write();
      lines.add(isWhole ? marks.store : marks.storeState);
    });
    lines.add('}');
  });
  lines.add('}');
}

/**
 * Writes whether a thread has its turn: in a state in which one thread of the block goes on at a time, the first thread there has it. Those in front
 * of it with such a state have theirs when the rest of their warps has run, which needs no other warp.
 */
function writeTurn({ p, turns, shared }: Sync): void {
  const isTurn = (state: string): string => turns.map((id) => `${state} == ${id}u`).join(' || ');
  p.lines.add('var has_turn = true;');
  p.lines.add(`if (state == lowest && (${isTurn('lowest')})) {`);
  p.lines.indent(() => {
    p.lines.add('for (var other = 0u; other < thread_number && has_turn; other++) {');
    p.lines.indent(() => {
      p.lines.add(`let of_other = ${shared('states')}[other];`);
      p.lines.add(`has_turn = !(${isTurn('of_other')});`);
    });
    p.lines.add('}');
  });
  p.lines.add('}');
}

/** Writes what a thread does in a round. */
function writeRound(sync: Sync, first: number, note: (bit: number) => string, countsIdle: boolean): void {
  const { p, regions } = sync;
  const { lines } = p;
  const hasMasks = regions.rendezvous.length > 0;
  const add = (text: string): void => lines.add(text);
  const hasTurns = sync.turns.length > 0;
  if (hasTurns) writeTurn(sync);
  add(`if (lowest < ${first}u) {`);
  lines.indent(() => {
    add(hasTurns ? 'if (state == lowest && has_turn) {' : 'if (state == lowest) {');
    lines.indent(() => {
      add(note(progress.moved));
      writeSteps(sync);
      if (countsIdle) add(`if ((state & 0xf0000000u) != ${hex(flags.yielded)}) { ${note(progress.worked)} }`);
    });
    add('}');
  });
  if (hasMasks) {
    add('} else if (is_met) {');
    lines.indent(() => {
      add(note(countsIdle ? progress.moved | progress.worked : progress.moved));
      writeMeetings(sync);
    });
  }
  if (regions.hasYields) {
    add(`} else if ((state & 0xf0000000u) == ${hex(flags.yielded)}) {`);
    lines.indent(() => {
      add(note(progress.moved));
      add('state &= 0x0fffffffu;');
    });
  }
  if (hasMasks) {
    add(`} else if (state >= ${first}u && state < ${hex(flags.yielded)}) {`);
    lines.indent(() => add(note(progress.stuck)));
  }
  add('}');
}

/** The steps of regions and collectives, by state. */
function writeSteps(sync: Sync): void {
  const { p, regions, parts, body } = sync;
  const steps = [
    ...regions.list.map((region) => ({ id: region.id, write: () => body().write(parts.get(region.id)!) })),
    ...regions.collectives.map((collective) => ({ id: collective.id, write: () => writeCollective(sync, collective) })),
  ].sort((a, b) => a.id - b.id);
  writeCases(p, steps);
}

function writeCases({ lines }: Printer, steps: readonly { readonly id: number; write(): void }[]): void {
  lines.add('switch (state) {');
  for (const { id, write } of steps) {
    lines.add(`case ${id}u: {`);
    lines.indent(write);
    lines.add('}');
  }
  lines.add('default: {');
  lines.add('}');
  lines.add('}');
}

function writeCollective(sync: Sync, { block, values, to, id }: CollectiveStep): void {
  const { p, regions, body, shared } = sync;
  const { kernel, lines } = p;
  values.forEach((value, slot) => {
    const inst = kernel.insts[value]!;
    if (inst.op === 'syncwarp') return;
    writeResult(p, sync, inst as Collective, value, { slot, takesPart: `${shared('states')}[other] == ${id}u` });
  });
  const { end } = kernel.blocks[block]!;
  if (end.op === 'br') body().transfer(end.to);
  lines.add(`state = ${regions.byEntry.get(to)!.id}u;`);
}

/** Sets `is_met` to whether all live threads of the thread's mask wait with the same mask and kind. */
function writeMet({ p, shared }: Sync, first: number): void {
  const { lines } = p;
  const [states, masks, kinds] = [shared('states'), shared('masks'), shared('kinds')];
  const waiting = (state: string): string => `${state} >= ${first}u && ${state} < ${hex(flags.yielded)}`;
  lines.add('var is_met = false;');
  lines.add('var named = 0u;');
  lines.add(`if (${waiting('state')}) {`);
  lines.indent(() => {
    lines.add(`let mask = ${masks}[thread_number];`);
    lines.add('is_met = ((mask >> (thread_number & 31u)) & 1u) != 0u;');
    lines.add('for (var other = warp_first; other < warp_last; other++) {');
    lines.indent(() => {
      lines.add(`if (((mask >> (other & 31u)) & 1u) == 0u || ${states}[other] == ${exited}) { continue; }`);
      lines.add('named |= 1u << (other & 31u);');
      lines.add(
        `is_met = is_met && ${waiting(`${states}[other]`)} && ${masks}[other] == mask && ${kinds}[other] == ${kinds}[thread_number];`,
      );
    });
    lines.add('}');
  });
  lines.add('}');
}

/** A collective of the threads that are together waits for those of the warp that have yielded at an earlier place, or that meet now. */
function writeEarly({ p, regions, shared }: Sync): void {
  const { lines } = p;
  const { collectives, list, rendezvous } = regions;
  if (collectives.length === 0) return;
  const [states, masks, kinds] = [shared('states'), shared('masks'), shared('kinds')];
  const first = list.length + collectives.length;
  lines.add(`if (${collectives.map(({ id }) => `lowest == ${id}u`).join(' || ')}) {`);
  lines.indent(() => {
    lines.add('for (var other = warp_first; other < warp_last; other++) {');
    lines.indent(() => {
      if (regions.hasYields)
        lines.add(
          `if ((${states}[other] & 0xf0000000u) == ${hex(flags.yielded)} && (${states}[other] & 0x0fffffffu) < lowest) { lowest = ${exited}; }`,
        );
      if (rendezvous.length > 0) {
        const isAway = (of: string): string => `${states}[${of}] < ${first}u || ${states}[${of}] >= ${hex(flags.yielded)}`;
        lines.add(`if (${isAway('other')}) { continue; }`);
        lines.add(`var is_complete = ((${masks}[other] >> (other & 31u)) & 1u) != 0u;`);
        lines.add('for (var third = warp_first; third < warp_last; third++) {');
        lines.indent(() => {
          lines.add(`if (((${masks}[other] >> (third & 31u)) & 1u) == 0u || ${states}[third] == ${exited}) { continue; }`);
          lines.add(
            `if (${isAway('third')} || ${masks}[third] != ${masks}[other] || ${kinds}[third] != ${kinds}[other]) { is_complete = false; }`,
          );
        });
        lines.add('}');
        lines.add(`if (is_complete) { lowest = ${exited}; }`);
      }
    });
    lines.add('}');
  });
  lines.add('}');
}

function writeMeetings(sync: Sync): void {
  const { p, regions } = sync;
  writeCases(
    p,
    regions.rendezvous.map((rendezvous) => ({
      id: rendezvous.id,
      write: () => writeMeeting(sync, rendezvous, p.kernel.insts[rendezvous.value]!),
    })),
  );
}

function writeMeeting(sync: Sync, { block, value }: Rendezvous, inst: Inst): void {
  const { p, regions, body } = sync;
  writeResult(p, sync, inst as MaskedInst, value, { slot: 0, takesPart: '((named >> (other & 31u)) & 1u) != 0u' });
  const { end } = p.kernel.blocks[block]!;
  if (end.op !== 'br') return;
  body().transfer(end.to);
  p.lines.add(`state = ${regions.byEntry.get(end.to.block.id)!.id}u;`);
}
