/** What is left (9.7.19). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusing } from './refuse.ts';

const noDebugger: Refusal = { refused: 'a breakpoint: Metal has none in a kernel', instead: 'leave the instruction out' };
const noEvents: Refusal = {
  refused: 'an event of a performance counter: Metal has none that a kernel can send',
  instead: 'leave the instruction out',
};
const noRegisters: Refusal = {
  refused: 'a share of the registers that changes while the kernel runs: Metal sets it once',
  instead: 'leave the instruction out: it changes no result',
};

const always = { ptx: 1, sm: 10 } as const;

export const miscRows = (): readonly Row[] => [
  refusing({ since: always, source: '9.7.19.1', status: noDebugger })({ syntax: 'brkpt', doc: 'Stops for a debugger.' }),
  refusing({ since: { ptx: 1.4, sm: 10 }, source: '9.7.19.3', status: noEvents })({
    syntax: 'pmevent{.mask} a',
    types: { a: 'u32' },
    doc: 'Sends an event to performance counters, or those of a mask.',
  }),
  refusing({ since: { ptx: 8, sm: 90 }, source: '9.7.19.5', status: noRegisters })({
    syntax: 'setmaxnreg.action.sync.aligned.u32 a',
    values: { action: ['inc', 'dec'] },
    types: { a: 'u32' },
    doc: 'Takes more registers for the warp group, or gives some back.',
  }),
];
