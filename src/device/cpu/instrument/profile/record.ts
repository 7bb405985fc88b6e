/**
 * The hooks that record how each thread goes through a kernel: a stream of words with, for each basic block that it runs, the index
 * of each access of global or shared memory, then the number of the block twice over, plus one where its condition held.
 */

import type { Probe, ProbeWriter } from '../../../../engine/codegen/hooks.ts';
import type { Plan } from '../../../../engine/codegen/plan.ts';
import { withScratch } from '../../../../engine/codegen/scratch.ts';
import type { Block, Kernel } from '../../../../ir/index.ts';
import type { Code, Signature, WasmModule } from '../../../../wasm/index.ts';
import { watchedAccess } from './classes.ts';

const imports = {
  /** A block of threads starts. */
  begun: { params: [], results: [] },
  /** The stream is of this thread from here on. */
  of: { params: ['i32'], results: [] },
  /** There is no room for what comes. */
  full: { params: [], results: [] },
  /** The threads of a region have run it. */
  ran: { params: [], results: [] },
} as const satisfies Record<string, Signature>;
export type ProfileImport = keyof typeof imports;

/** Names under which the place of the next word and the end of the room are exported. */
export const streamGlobals = { at: 'stream.at', end: 'stream.end' } as const;

/** How many accesses of a block are recorded. */
export const watchedAccesses = (kernel: Kernel, { body }: Block): number =>
  body.filter((value) => watchedAccess(kernel, kernel.insts[value]!)).length;

/** Declares what a profiled module needs; before its first function. */
export function newProfileProbe({ kernel }: Plan, module: WasmModule): Probe {
  const names = Object.keys(imports) as ProfileImport[];
  const functions = Object.fromEntries(names.map((name) => [name, module.importFunction(name, imports[name])])) as Record<
    ProfileImport,
    number
  >;
  const at = module.global('i32', streamGlobals.at);
  const end = module.global('i32', streamGlobals.end);
  /** Words that stand before the place where the stream of the block that is being written ends. */
  let words = 0;
  const put = ({ code }: ProbeWriter, push: () => void): void => {
    code.at('global.get', at);
    push();
    code.access('i32.store', 4, 4 * words++);
  };
  const close = (e: ProbeWriter, push: () => void): void => {
    put(e, push);
    e.code.at('global.get', at);
    e.code.i32(4 * words);
    e.code.op('i32.add');
    e.code.at('global.set', at);
  };
  return {
    blockStart: (code) => code.at('call', functions.begun),
    threadStart(code, thread) {
      code.at('local.get', thread);
      code.at('call', functions.of);
    },
    resumed: () => {},
    regionEnd: (code) => code.at('call', functions.ran),
    enter({ code }, block) {
      words = 0;
      writeRoom(code, 4 * (watchedAccesses(kernel, block) + 1), { at, end, full: functions.full });
    },
    wrote: () => {},
    accesses(e, value) {
      if (!watchedAccess(kernel, kernel.insts[value]!)) return;
      withScratch(e, 'i32', 1, ([index]) => {
        e.code.at('local.set', index);
        put(e, () => e.code.at('local.get', index));
        e.code.at('local.get', index);
      });
    },
    leave: (e, block) => close(e, () => e.code.i32(2 * block.id)),
    decide(e, block) {
      withScratch(e, 'i32', 1, ([condition]) => {
        e.code.at('local.set', condition);
        close(e, () => {
          e.code.at('local.get', condition);
          e.code.i32(2 * block.id);
          e.code.op('i32.add');
        });
        e.code.at('local.get', condition);
      });
    },
  };
}

/** Has the host empty the room where so many bytes more do not fit. */
function writeRoom(
  code: Code,
  bytes: number,
  { at, end, full }: { readonly at: number; readonly end: number; readonly full: number },
): void {
  code.at('global.get', at);
  code.i32(bytes);
  code.op('i32.add');
  code.at('global.get', end);
  code.op('i32.gt_u');
  code.open('if');
  code.at('call', full);
  code.end();
}

/** Bytes of the most words that one block records. */
export const mostBlockBytes = (kernel: Kernel): number =>
  kernel.blocks.reduce((most, block) => Math.max(most, 4 * (watchedAccesses(kernel, block) + 1)), 0);
