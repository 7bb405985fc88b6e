/**
 * Barriers and warp operations in WGSL. Where all of them are uniform over the block, and WGSL can prove it, a barrier is itself, and a warp
 * operation passes values through workgroup memory between two barriers. Other kernels are cut into regions, which a scheduler in every thread
 * runs in the order of the CPU device (`src/engine/scalar/schedule.ts`), as in OpenCL C.
 */
import { type Collective as CollectiveStep, type Regions, type Rendezvous, syncPointsOf } from '../../engine/index.ts';
import type { Block, Edge, Fold, Inst, MaskedInst, Type, Value } from '../../ir/index.ts';
import type { Body, Part } from '../body.ts';
import type { Expression } from '../expression.ts';
import type { Printer } from '../language.ts';
import { type Collective, type Exchange, kindOf, publishedBy } from '../opencl/warps.ts';
import { type Store, writeWord } from './helpers/memory.ts';
import { typeName } from './types.ts';

/** States of threads; those of regions and collectives are numbers below. */
const flags = { yielded: 0x1000_0000, barrier: 0x4000_0000 } as const;
const exited = '0xffffffffu';
const hex = (n: number): string => `0x${n.toString(16)}u`;

/** A value as the contents of a cell, through which threads of a warp exchange values. */
function intoCell(type: Type, { text }: Expression): string {
  if (typeName(type) === 'u64') return text;
  return `u64(${type === 'f32' ? `bitcast<u32>(${text})` : type === 'i1' ? `u32(${text})` : text}, 0u)`;
}

/** The contents of a cell as a value. */
function fromCell(type: Type, text: string): string {
  if (typeName(type) === 'u64') return text;
  if (type === 'f32') return `bitcast<f32>(${text}.x)`;
  return type === 'i1' ? `(${text}.x != 0u)` : `${text}.x`;
}

const signedFold = (name: string) => (a: string, b: string) => `bitcast<u32>(${name}(bitcast<i32>(${a}), bitcast<i32>(${b})))`;
const folded: Readonly<Record<Fold, (a: string, b: string) => string>> = {
  add: (a, b) => `${a} + ${b}`,
  and: (a, b) => `${a} & ${b}`,
  or: (a, b) => `${a} | ${b}`,
  xor: (a, b) => `${a} ^ ${b}`,
  smin: signedFold('min'),
  smax: signedFold('max'),
  umin: (a, b) => `min(${a}, ${b})`,
  umax: (a, b) => `max(${a}, ${b})`,
};
const neutral: Readonly<Record<Fold, string>> = {
  add: '0u',
  and: '0xffffffffu',
  or: '0u',
  xor: '0u',
  smin: '0x7fffffffu',
  smax: '0x80000000u',
  umin: '0xffffffffu',
  umax: '0u',
};

/** How a kernel waits. */
export interface Sync {
  readonly p: Printer;
  readonly body: () => Body;
  readonly regions: Regions;
  /** By region number: its part. */
  readonly parts: ReadonlyMap<number, Part>;
  /** Threads that an invocation runs. */
  readonly threads: number;
  readonly sharedStore: Store;
  /** A workgroup variable of the kernel. */
  shared(name: string): string;
}

const barrier = (p: Printer): string => `${p.helper('block_barrier')}();`;

const cell = ({ shared }: Pick<Sync, 'shared'>, slot: number, thread: string): string =>
  `${shared('cells')}[${slot === 0 ? '' : `${slot}u * block_threads + `}${thread}]`;

/** Writes a uniform warp operation, a barrier or a fence, in place. */
export function writeUniform(p: Printer, sync: Pick<Sync, 'shared'>, inst: Inst, value: Value): void {
  const { lines } = p;
  const [published] = publishedBy(inst);
  if (published === undefined) return lines.add(barrier(p));
  lines.add(`${cell(sync, 0, 'thread_number')} = ${intoCell(p.typeOf(published), p.use(published))};`);
  lines.add(barrier(p));
  writeResult(p, sync, inst as Collective, value, { slot: 0, takesPart: undefined });
  lines.add(barrier(p));
}

/** Writes the result of an exchange to the variable of its value. */
function writeResult(
  p: Printer,
  sync: Pick<Sync, 'shared'>,
  inst: Collective | MaskedInst,
  value: Value,
  { slot, takesPart }: Exchange,
): void {
  const { lines } = p;
  if ((inst as Inst).op === 'mma')
    return void p.refuse(
      value,
      'a product of matrices by a warp (`mma.sync`, `wmma`)',
      'it was compiled for the CPU device; other targets expand it',
    );
  if (inst.op === 'warpsync') return;
  const name = p.variable(value);
  if (inst.op === 'shuffle')
    return lines.add(`${name} = ${fromCell(inst.type, cell(sync, slot, `warp_first + ((${p.use(inst.b).text}) & 31u)`))};`);
  if (inst.op === 'shufflesync') {
    const from = `(${p.use(inst.b).text})`;
    lines.add(`${name} = 0u;`);
    lines.add(`if (${from} < 32u && ((named >> (${from} & 31u)) & 1u) != 0u) { ${name} = ${cell(sync, slot, `warp_first + ${from}`)}.x; }`);
    return;
  }
  const step = (text: string): string => (takesPart === undefined ? text : `if (${takesPart}) { ${text} }`);
  const isBallot = inst.op === 'ballot' || inst.op === 'ballotsync';
  lines.add(`${name} = ${isBallot ? '0u' : neutral[inst.fold]};`);
  lines.add('for (var other = warp_first; other < warp_last; other++) {');
  const own = `${cell(sync, slot, 'other')}.x`;
  lines.indent(() => lines.add(step(isBallot ? `${name} |= ${own} << (other & 31u);` : `${name} = ${folded[inst.fold](name, own)};`)));
  lines.add('}');
}

/** Sets the state in which a thread leaves a region, and publishes what it brings. */
export function writeLeave(sync: Sync, block: Block, edge: Edge | undefined): void {
  const { p, body, regions, shared } = sync;
  const { lines, kernel } = p;
  if (edge) {
    body().transfer(edge);
    lines.add(`state = ${regions.byEntry.get(edge.block.id)!.id}u;`);
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
      lines.add(`${cell(sync, slot, 'thread_number')} = ${intoCell(p.typeOf(published), p.use(published))};`);
  });
  const rendezvous = regions.rendezvous.find(({ value }) => value === points[0]);
  if (rendezvous) {
    lines.add(`${shared('masks')}[thread_number] = ${p.use((inst as MaskedInst).members).text};`);
    lines.add(`${shared('kinds')}[thread_number] = ${kindOf(inst as MaskedInst)}u;`);
    lines.add(`state = ${rendezvous.id}u;`);
  } else lines.add(`state = ${regions.byBlock.get(block.id)!.id}u;`);
}

/** Bits of the progress of a round: a thread went on, one is alive, one waits for others by a mask. */
const progress = { moved: 1, alive: 2, stuck: 4 } as const;

/** Writes the rounds; `fail` reports threads that wait for others that never come. */
export function writeRounds(sync: Sync, fail: () => void): void {
  const { p, regions, shared } = sync;
  const { lines } = p;
  const hasMasks = regions.rendezvous.length > 0;
  const first = regions.list.length + regions.collectives.length;
  const states = shared('states');
  const now = shared('progress');
  const note = (bit: number): string => `atomicOr(&${now}[round], ${bit}u);`;
  const add = (text: string): void => lines.add(text);
  const leader = sync.threads === 1 ? 'thread_number' : 'index';
  writeClear(sync);
  if (sync.threads === 1) add('var state = 0u;');
  add('var round = 0u;');
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
      writeRound(sync, first, note);
    });
    add(barrier(p));
    add(`if (${leader} == 0u) { ${shared('progress_now')} = atomicLoad(&${now}[round]); }`);
    add(`let progress_of_round = workgroupUniformLoad(&${shared('progress_now')});`);
    add('round ^= 1u;');
    add(`if ((progress_of_round & ${progress.moved}u) != 0u) { continue; }`);
    add(`if ((progress_of_round & ${progress.alive}u) == 0u) { break; }`);
    if (hasMasks) {
      add(`if ((progress_of_round & ${progress.stuck}u) != 0u) {`);
      lines.indent(() => {
        writeEach(sync, false, () => {
          add(`if (state >= ${first}u && state < ${hex(flags.yielded)}) {`);
          lines.indent(fail);
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

/** Writes what a thread does in a round. */
function writeRound(sync: Sync, first: number, note: (bit: number) => string): void {
  const { p, regions } = sync;
  const { lines } = p;
  const hasMasks = regions.rendezvous.length > 0;
  const add = (text: string): void => lines.add(text);
  add(`if (lowest < ${first}u) {`);
  lines.indent(() => {
    add('if (state == lowest) {');
    lines.indent(() => {
      add(note(progress.moved));
      writeSteps(sync);
    });
    add('}');
  });
  if (hasMasks) {
    add('} else if (is_met) {');
    lines.indent(() => {
      add(note(progress.moved));
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
