/**
 * The hooks that record the path of each thread as a stream of 32-bit words. Each executed basic block adds the index of each access to
 * global or shared memory, then twice the number of the block, plus one if its condition holds.
 */

import type { Probe, ProbeWriter } from '../../../../engine/codegen/hooks.ts';
import type { Plan } from '../../../../engine/codegen/plan.ts';
import { withScratch } from '../../../../engine/codegen/scratch.ts';
import type { Block, Kernel } from '../../../../ir/index.ts';
import type { Code, Signature, WasmModule } from '../../../../wasm/index.ts';
import { profiledAccess } from './classes.ts';

const imports = {
  /** A block of threads starts. */
  begun: { params: [], results: [] },
  /** The stream belongs to this thread from here on. */
  of: { params: ['i32'], results: [] },
  /** The buffer has no room for the next block. */
  full: { params: [], results: [] },
  /** All threads have executed a region. */
  ran: { params: [], results: [] },
} as const satisfies Record<string, Signature>;
export type ProfileImport = keyof typeof imports;

/** Export names of the address of the next word and of the end of the buffer. */
export const streamGlobals = { at: 'stream.at', end: 'stream.end' } as const;

/** The number of recorded accesses of a block. */
export const profiledAccesses = (kernel: Kernel, { body }: Block): number =>
  body.filter((value) => profiledAccess(kernel, kernel.insts[value]!)).length;

/** Declares imports and globals; before the first function of the module. */
export function newProfileProbe({ kernel }: Plan, module: WasmModule): Probe {
  const names = Object.keys(imports) as ProfileImport[];
  const functions = Object.fromEntries(names.map((name) => [name, module.importFunction(name, imports[name])])) as Record<
    ProfileImport,
    number
  >;
  const at = module.global('i32', streamGlobals.at);
  const end = module.global('i32', streamGlobals.end);
  /** Words that the current block has added so far. */
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
      writeRoom(code, 4 * (profiledAccesses(kernel, block) + 1), { at, end, full: functions.full });
    },
    wrote: () => {},
    accesses(e, value) {
      if (!profiledAccess(kernel, kernel.insts[value]!)) return;
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

/** Has the host empty the buffer if it has no room for some bytes. */
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

/** The most bytes that one block records. */
export const maxBlockBytes = (kernel: Kernel): number =>
  kernel.blocks.reduce((max, block) => Math.max(max, 4 * (profiledAccesses(kernel, block) + 1)), 0);
